import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { UsageError } from './failures.ts';
import type { Invocation } from './invocation.ts';
import { pullTemplates, readTemplate } from './templates.ts';

let end = () => {};
afterEach(() => end());

/** A invocation with a server that has these pages of templates, and a folder. */
async function given(pages: object[][]) {
  const server = createServer(({ url }, response) => {
    const at = Number(new URL(url ?? '', 'http://a').searchParams.get('cursor') ?? 0);
    const next = at + 1 < pages.length ? { next_cursor: String(at + 1) } : {};
    response.end(JSON.stringify({ templates: pages[at], ...next }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  end = () => server.close();
  const home = mkdtempSync(join(tmpdir(), 'postrider-templates-'));
  const { port } = server.address() as AddressInfo;
  const env = { HOME: home, BASE_URL: `http://127.0.0.1:${port}`, TOKEN: 'key', WORKSPACE_ID: 'w' };
  const terminal = {
    ...process,
    stderr: { write: () => true },
  } as unknown as Invocation['terminal'];
  return { invocation: { env, terminal }, folder: join(home, 'templates') };
}

const template = (id: string, more: object = {}) => ({
  ...{ id, name: id, version: 3, channel: 'email', category: 'marketing', translations: {} },
  ...{ email: { subject: 'Hi', mjml_source: `<mjml>${id}</mjml>`, compiled_preview: '<p>' } },
  ...more,
});

test('templates of all pages are written, without what the server made', async () => {
  const { invocation, folder } = await given([[template('a')], [template('b')]]);
  await pullTemplates(invocation, folder, {});
  expect(readFileSync(join(folder, 'b/body.mjml'), 'utf8')).toBe('<mjml>b</mjml>');
  expect(JSON.parse(readFileSync(join(folder, 'a/template.json'), 'utf8'))).toEqual({
    ...{ id: 'a', name: 'a', channel: 'email', category: 'marketing', translations: {} },
    email: { subject: 'Hi' },
  });
});

test('MJML of an earlier pull does not stay beside a template that has none any more', async () => {
  const { invocation, folder } = await given([[template('a', { email: { mjml_source: '' } })]]);
  await pullTemplates(invocation, folder, {});
  writeFileSync(join(folder, 'a/body.mjml'), '<mjml>old</mjml>');
  await pullTemplates(invocation, folder, {});
  expect(existsSync(join(folder, 'a/body.mjml'))).toBe(false);
});

test.each([
  ['an id', template('../../evil')],
  ['a language', template('a', { translations: { '/../../evil': { email: { subject: 'x' } } } })],
])('%s that leads out of the folder is refused', async (_, each) => {
  const { invocation, folder } = await given([[each]]);
  await expect(pullTemplates(invocation, folder, {})).rejects.toThrow(
    'cannot be the name of a file',
  );
});

test('a pull writes through no link that a folder came with', async () => {
  const { invocation, folder } = await given([[template('a')]]);
  const outside = join(folder, '../outside');
  writeFileSync(outside, 'mine');
  mkdirSync(join(folder, 'a'), { recursive: true });
  for (const name of ['template.json', 'body.mjml']) symlinkSync(outside, join(folder, 'a', name));
  await pullTemplates(invocation, folder, {});
  expect(readFileSync(outside, 'utf8')).toBe('mine');
  expect(readFileSync(join(folder, 'a/body.mjml'), 'utf8')).toBe('<mjml>a</mjml>');
});

test.each<[string, (file: string) => void]>([
  ['no JSON', (file) => writeFileSync(file, '{')],
  ['null', (file) => writeFileSync(file, 'null')],
  ['a list', (file) => writeFileSync(file, '[]')],
  ['a folder', (file) => mkdirSync(file)],
  ['a device', (file) => symlinkSync('/dev/zero', file)],
  ['a pipe', (file) => execFileSync('mkfifo', [file])],
  [
    'too large',
    (file) => {
      writeFileSync(file, '');
      truncateSync(file, 100 * 1024 * 1024);
    },
  ],
])('settings of a template that are %s are refused with the name of their file', (_, make) => {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-template-'));
  make(join(folder, 'template.json'));
  const read = () => readTemplate(folder, 'a');
  expect(read).toThrow(UsageError);
  expect(read).toThrow(/template\.json cannot be read: /);
});

test('a body that is a device is refused', () => {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-template-'));
  writeFileSync(join(folder, 'template.json'), JSON.stringify({ email: {} }));
  symlinkSync('/dev/zero', join(folder, 'body.mjml'));
  expect(() => readTemplate(folder, 'a')).toThrow(/body\.mjml cannot be read: it is no file/);
});
