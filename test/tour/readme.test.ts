import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { givenWorkspace } from '../stack/given-workspace.ts';
import { ownerToken } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';

const stack = borrowedStack();
const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

/** The blocks of shell, by the heading above each. */
const blocks = readme.split(/^## /m).flatMap((section) => {
  const [heading = ''] = section.split('\n', 1);
  // Every second piece is inside a fence.
  const pieces = section.split('```').filter((_, at) => at % 2 === 1);
  const shell = pieces.filter((piece) => piece.startsWith('sh\n'));
  return shell.map((piece) => ({ heading, text: piece.slice('sh\n'.length) }));
});

/**
 * Runs a block as it is printed, on a workspace of its own, in a folder where `npm start` has
 * written its settings.
 */
async function runBlock(heading: string) {
  const { id, from } = await givenWorkspace(stack);
  const token = await ownerToken(stack.settings);
  const folder = mkdtempSync(join(tmpdir(), 'postrider-readme-'));
  mkdirSync(join(folder, '.postrider'));
  const settings = { ...stack.settings, TOKEN: token, WORKSPACE_ID: id };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(folder, '.postrider/env'), lines.join(''));
  const text = blocks.find((block) => block.heading === heading)?.text ?? 'exit 1';
  const { stdout } = await run('sh', ['-ec', text], { cwd: folder, timeout: 60_000 });
  return { id, from, stdout };
}

test('every block of shell is run by a test', () => {
  expect(blocks.map(({ heading }) => heading)).toEqual([
    // The commands of package.json, which the next test looks up.
    'Start it',
    // Equal to the quickstart that quickstart.test.ts runs.
    'Five calls to the first mail',
    // test/grpc/readme.test.ts
    'gRPC',
    'Transactional mail',
    'Webhooks',
  ]);
});

test('every npm command and script that documents name is there', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const documents = ['README.md', 'CONTRIBUTING.md', 'bench/README.md', 'docs/faults.md'];
  const text = documents.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
  const commands = [...text.matchAll(/\bnpm (?:run )?([a-z:-]+)(?= |`|\n)/g)];
  const known = new Set([...Object.keys(scripts), 'ci', 'install']);
  expect(commands.length).toBeGreaterThan(10);
  expect(commands.map(([, name = '']) => name).filter((name) => !known.has(name))).toEqual([]);
  const files = [...text.matchAll(/`(?:node|sh) ([\w./-]+\.(?:ts|sh))/g)].map(
    ([, file = '']) => file,
  );
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

test('the lines on transactional mail send one', async () => {
  const { from } = await runBlock('Transactional mail');
  await until('the receipt is there', async () => {
    const mails = await stack.sink.bodies('ada@example.com');
    return mails.some((mail) => mail.includes(from) && mail.includes('Subject: Order 1042'));
  });
}, 90_000);

test('the lines on webhooks show a verified one in the inbox', async () => {
  await runBlock('Webhooks');
  await until('the webhook is there and verified', async () => {
    const answer = await fetch(`${stack.settings.INBOX_URL}/api/webhooks?name=mine`);
    return /"verdict": ?"verified"/.test(await answer.text());
  });
}, 90_000);
