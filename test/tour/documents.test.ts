import { execFile } from 'node:child_process';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
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
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');
const pages = ['README.md', ...globSync('docs/{guides,reference}/*.md', { cwd: root })].toSorted();

/** The blocks of shell, by their page. */
const blocks = pages.flatMap((page) => {
  // Every second piece is inside a fence.
  const pieces = textOf(page)
    .split('```')
    .filter((_, at) => at % 2 === 1);
  const shell = pieces.filter((piece) => piece.startsWith('sh\n'));
  return shell.map((piece) => ({ page, text: piece.slice('sh\n'.length) }));
});

/**
 * Runs a block as it is printed, on a workspace of its own, in a folder where `npm start` has
 * written its settings.
 */
async function runBlock(page: string, own: Record<string, string | undefined> = {}) {
  const { id, from } = await givenWorkspace(stack);
  const token = await ownerToken(stack.settings);
  const folder = mkdtempSync(join(tmpdir(), 'postrider-readme-'));
  mkdirSync(join(folder, '.postrider'));
  symlinkSync(join(root, 'deploy'), join(folder, 'deploy'));
  const settings = { ...stack.settings, TOKEN: token, WORKSPACE_ID: id, ...own };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(folder, '.postrider/env'), lines.join(''));
  const text = blocks.findLast((block) => block.page === page)?.text ?? 'exit 1';
  const { stdout } = await run('sh', ['-ec', text], { cwd: folder, timeout: 60_000 });
  return { id, from, stdout };
}

test('every block of shell is run by a test', () => {
  expect(blocks.map(({ page }) => page)).toEqual([
    // The commands of package.json, which the next test looks up.
    'README.md',
    'README.md',
    'docs/guides/contacts-in-and-out.md',
    // Equal to the quickstart that quickstart.test.ts runs.
    'docs/guides/first-mail.md',
    'docs/guides/moving-here.md',
    'docs/guides/newsletters.md',
    'docs/guides/send-by-smtp.md',
    'docs/guides/transactional.md',
    'docs/guides/webhooks.md',
    'docs/reference/command-line.md',
    // test/grpc/page.test.ts
    'docs/reference/grpc.md',
  ]);
});

test('every npm command and script that documents name is there', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const others = ['CONTRIBUTING.md', 'bench/README.md'];
  const documents = [...pages, ...others, ...globSync('docs/{operations/,}*.md', { cwd: root })];
  const text = documents.map(textOf).join('\n');
  const commands = [...text.matchAll(/\bnpm (?:run )?([a-z:-]+)(?= |`|\n)/g)];
  const known = new Set([...Object.keys(scripts), 'ci', 'install']);
  expect(commands.length).toBeGreaterThan(10);
  expect(commands.map(([, name = '']) => name).filter((name) => !known.has(name))).toEqual([]);
  const files = [...text.matchAll(/`(?:node|sh) ([\w./-]+\.(?:ts|sh))/g)].map(
    ([, file = '']) => file,
  );
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

test('the one call of the first page sends a mail', async () => {
  const { from } = await runBlock('README.md');
  await until('the mail is there', async () => {
    const mails = await stack.sink.bodies('ada@example.com');
    return mails.some((mail) => mail.includes(from) && mail.includes('The first mail.'));
  });
}, 90_000);

test('the lines on transactional mail send one', async () => {
  const { from } = await runBlock('docs/guides/transactional.md');
  await until('the receipt is there', async () => {
    const mails = await stack.sink.bodies('ada@example.com');
    return mails.some((mail) => mail.includes(from) && mail.includes('Subject: Order 1042'));
  });
}, 90_000);

test('the lines on SMTP send a mail as it is written there', async () => {
  // The password is an API key, and the sender one of its workspace.
  const { TOKEN } = stack.settings;
  await runBlock('docs/guides/send-by-smtp.md', { TOKEN });
  await until('the mail is there', async () => {
    const mails = await stack.sink.bodies('grace@example.com');
    return mails.some((mail) => mail.includes('Hello Grace') && !/^postrider-/im.test(mail));
  });
}, 90_000);

test('the lines on files of contacts import one, and say which row failed', async () => {
  const { stdout } = await runBlock('docs/guides/contacts-in-and-out.md');
  expect(JSON.parse(stdout)).toMatchObject({ created: 1, failed_total: 1 });
}, 90_000);

test('the lines on newsletters test two subjects on a sample', async () => {
  const { from, stdout } = await runBlock('docs/guides/newsletters.md');
  expect(stdout).toContain('"is_auto_send_winner":true');
  await until('the letter is there', async () => {
    const mails = await stack.sink.bodies('bob@example.com');
    return mails.some(
      (mail) => mail.includes(from) && /Subject: A (short|long) subject/.test(mail),
    );
  });
}, 90_000);

test('the lines on webhooks show a verified one in the inbox', async () => {
  await runBlock('docs/guides/webhooks.md');
  await until('the webhook is there and verified', async () => {
    const answer = await fetch(`${stack.settings.INBOX_URL}/api/webhooks?name=mine`);
    return /"verdict": ?"verified"/.test(await answer.text());
  });
}, 90_000);

test('the lines on moving here keep those out who have left', async () => {
  const { stdout } = await runBlock('docs/guides/moving-here.md');
  const stats = stdout.trim().split('\n').at(-1) ?? '';
  expect(JSON.parse(stats)).toMatchObject({ stats: { total_active: 1, total_unsubscribed: 1 } });
}, 90_000);

test('the lines on the command line make a list and export it', async () => {
  const { stdout } = await runBlock('docs/reference/command-line.md');
  expect(stdout).toMatch(/"name":"Letters"/);
  expect(stdout).toMatch(/^ada@example\.com,/m);
}, 90_000);

test('the first page of the documentation is short, and its lines fit a terminal', () => {
  const lines = textOf('README.md').trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(150);
  expect(lines.filter((line) => line.length > 110)).toEqual([]);
});
