import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import type { Invocation } from './invocation.ts';
import { pullTemplates } from './templates.ts';

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
