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
import PostalMime, { type Email } from 'postal-mime';
import { linkOf } from '../pages/inbox.ts';
import { givenWorkspace } from '../stack/given-workspace.ts';
import { inFreeSecond, ownerToken } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';

const stack = borrowedStack();
const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');
const pages = ['README.md', ...globSync('docs/{guides,reference}/*.md', { cwd: root })].toSorted();

/** The blocks of shell, by their page and the heading that they stand under. */
const blocks = pages.flatMap((page) => {
  const found = [];
  let heading = '';
  for (const [, title, text] of textOf(page).matchAll(/^## (.+)$|^```sh\n([\s\S]*?)^```$/gm)) {
    heading = title ?? heading;
    if (text !== undefined) found.push({ name: heading ? `${page} # ${heading}` : page, text });
  }
  return found;
});

/**
 * Runs a block as it is printed, on a workspace of its own, in a folder where `npm start` has
 * written its settings.
 */
async function runBlock(name: string, own: Record<string, string | undefined> = {}) {
  const { id, from } = await givenWorkspace(stack);
  const token = await ownerToken(stack.settings);
  const folder = mkdtempSync(join(tmpdir(), 'postrider-readme-'));
  mkdirSync(join(folder, '.postrider'));
  for (const part of ['deploy', 'node_modules']) symlinkSync(join(root, part), join(folder, part));
  const settings = { ...stack.settings, TOKEN: token, WORKSPACE_ID: id, ...own };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(folder, '.postrider/env'), lines.join(''));
  const text = blocks.find((block) => block.name === name)?.text ?? 'exit 1';
  const { stdout } = await run('sh', ['-ec', text], { cwd: folder, timeout: 60_000 });
  return { id, from, stdout };
}

/** An answer of the API, to the owner. */
async function get(operation: string, query: Record<string, string>): Promise<Answer> {
  const url = `${stack.settings.BASE_URL}/api/${operation}?${new URLSearchParams(query)}`;
  const token = await ownerToken(stack.settings);
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  return (await answer.json()) as Answer;
}

type Answer = Record<string, unknown>;

/** The mail to Anna with a subject, once it is there. */
async function mailOf(from: string, subject: string): Promise<Email> {
  let found: Email | undefined;
  await until(`${subject} is there`, async () => {
    const mails = await stack.sink.bodies('anna@example.com');
    const parsed = mails.map((mail) => PostalMime.parse(Buffer.from(mail, 'latin1')));
    found = (await Promise.all(parsed)).find(
      (mail) => mail.from?.address === from && mail.subject === subject,
    );
    return found !== undefined;
  });
  return found as Email;
}

test('every block of shell is run by a test', () => {
  expect(blocks.map(({ name }) => name)).toEqual([
    // The commands of package.json, which the next test looks up.
    'README.md # Try it',
    'README.md # The first mail',
    'docs/guides/ab-tests.md',
    'docs/guides/api-keys.md # Rotate a key',
    'docs/guides/contacts-in-and-out.md',
    'docs/guides/contacts-in-and-out.md # Import from Mailchimp',
    'docs/guides/custom-events.md',
    // Equal to the quickstart that quickstart.test.ts runs.
    'docs/guides/first-mail.md',
    'docs/guides/forms-and-pages.md # Unsubscribe somebody by hand',
    'docs/guides/moving-here.md',
    'docs/guides/moving-here.md # Move the suppression list',
    'docs/guides/personal-data.md # Export and erase',
    'docs/guides/segments.md # A newsletter to those who opened in the last 90 days',
    'docs/guides/send-by-smtp.md',
    'docs/guides/transactional.md',
    'docs/guides/transactional.md # A code for a password',
    'docs/guides/transactional.md # A receipt with a PDF',
    'docs/guides/webhooks.md',
    'docs/guides/welcome.md # A German welcome with double opt-in',
    'docs/guides/why-no-mail.md',
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
  const commands = [...text.matchAll(/\bnpm (?:run )?([a-z\d:-]+)(?= |`|\n)/g)];
  const known = new Set([...Object.keys(scripts), 'ci', 'install']);
  expect(commands.length).toBeGreaterThan(10);
  expect(commands.map(([, name = '']) => name).filter((name) => !known.has(name))).toEqual([]);
  const files = [...text.matchAll(/`(?:node|sh) ([\w./-]+\.(?:ts|sh))/g)].map(
    ([, file = '']) => file,
  );
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

test('the one call of the first page sends a mail', async () => {
  const { from } = await runBlock('README.md # The first mail');
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

test('the lines on A/B tests test two subjects on a sample', async () => {
  const { stdout } = await runBlock('docs/guides/ab-tests.md');
  const results = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  expect(results).toMatchObject({
    status: 'test_completed',
    test_results: { short: { recipients: 10 }, long: { recipients: 10 } },
    comparison: { metric: 'open_rate' },
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

test("the lines on Mailchimp's files mail nobody who has left or bounced there", async () => {
  const { id } = await runBlock('docs/guides/contacts-in-and-out.md # Import from Mailchimp');
  const { stats } = await get('lists.stats', { workspace_id: id, list_id: 'newsletter' });
  expect(stats).toMatchObject({ total_active: 1, total_unsubscribed: 1, total_bounced: 1 });
}, 90_000);

test('the lines on unsubscribing by hand end one list, and then all', async () => {
  const { id } = await runBlock('docs/guides/forms-and-pages.md # Unsubscribe somebody by hand');
  const { stats } = await get('lists.stats', { workspace_id: id, list_id: 'news' });
  expect(stats).toMatchObject({ total_active: 0, total_unsubscribed: 1 });
  const { suppressions } = await get('suppressions.list', { workspace_id: id });
  expect(suppressions).toMatchObject([{ email: 'bob@example.com', reason: 'opted_out' }]);
}, 90_000);

test('the lines on a German welcome ask first, and welcome who has confirmed', async () => {
  const { from } = await runBlock('docs/guides/welcome.md # A German welcome with double opt-in');
  const link = linkOf(
    await mailOf(from, 'Bitte bestätigen Sie Ihre Anmeldung'),
    'Anmeldung bestätigen',
  );
  const page = await fetch(link);
  expect(await page.text()).toContain('<html lang="de">');
  expect((await fetch(link, { method: 'POST' })).status).toBe(200);
  const { html } = await mailOf(from, 'Willkommen, Anna');
  expect(html).toContain('Schön, dass Sie da sind.');
  expect(html).toContain('<html lang="de"');
}, 90_000);

test('the lines on those who opened make a segment and its broadcast', async () => {
  const { id } = await runBlock(
    'docs/guides/segments.md # A newsletter to those who opened in the last 90 days',
  );
  const { broadcasts } = await get('broadcasts.list', { workspace_id: id });
  expect(broadcasts).toMatchObject([{ audience: { segments: ['recent_readers'] } }]);
}, 90_000);

test('the lines on custom events put a customer into a segment', async () => {
  const { id } = await runBlock('docs/guides/custom-events.md');
  await until('the customer is in the segment', async () => {
    const asked = { workspace_id: id, segment_id: 'customers' };
    const { emails } = await get('segments.contacts', asked);
    return String(emails) === 'ada@example.com';
  });
}, 90_000);

test('the lines on a code for a password send one', async () => {
  const { from } = await runBlock('docs/guides/transactional.md # A code for a password');
  await until('the code is there', async () => {
    const mails = await stack.sink.bodies('ada@example.com');
    return mails.some((mail) => mail.includes(from) && mail.includes('491 338 is your code'));
  });
}, 90_000);

test('the lines on a receipt attach a PDF', async () => {
  const { from } = await runBlock('docs/guides/transactional.md # A receipt with a PDF');
  await until('the receipt is there', async () => {
    const mails = await stack.sink.bodies('ada@example.com');
    return mails.some((mail) => mail.includes(from) && /receipt-1042\.pdf/.test(mail));
  });
}, 90_000);

test('the lines on a person export all, and erase it', async () => {
  const { id } = await runBlock('docs/guides/personal-data.md # Export and erase');
  const { contacts } = await get('contacts.list', { workspace_id: id });
  expect(contacts).toEqual([]);
}, 90_000);

test('the lines on a suppression list move it', async () => {
  const { stdout } = await runBlock('docs/guides/moving-here.md # Move the suppression list');
  const list = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  expect(list.suppressions).toMatchObject([{ reason: 'bounced' }, { reason: 'complained' }]);
}, 90_000);

test('the lines on why somebody got no mail say so in words', async () => {
  const { stdout } = await runBlock('docs/guides/why-no-mail.md');
  expect(JSON.parse(stdout)).toMatchObject({ summary: expect.stringMatching(/\w+/) });
}, 90_000);

test('the lines on API keys rotate one, with an overlap', async () => {
  const name = 'docs/guides/api-keys.md # Rotate a key';
  // It fails where another test has signed in within this second.
  const answer = await inFreeSecond(() =>
    runBlock(name).then(
      ({ stdout }) => stdout,
      () => '',
    ),
  );
  expect(JSON.parse(answer)).toMatchObject({ token: expect.stringMatching(/^ey/) });
}, 90_000);

test('each task of a first week is two clicks from the first page', () => {
  expect(textOf('README.md')).toContain('(docs/guides/README.md)');
  const [, week = ''] = textOf('docs/guides/README.md').split('## In the first week');
  const tasks = [...(week.split('\n## ')[0] ?? '').matchAll(/^\d+\. .*\]\(([^)]+)\)/gm)];
  expect(tasks).toHaveLength(10);
  const covered = blocks.map(({ name }) => name.replace(/^docs\/guides\//, ''));
  for (const [, link = ''] of tasks) {
    const [page = ''] = link.split('#');
    expect(covered.some((name) => name.startsWith(page))).toBe(true);
  }
});

test('the first page of the documentation is short, and its lines fit a terminal', () => {
  const lines = textOf('README.md').trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(150);
  expect(lines.filter((line) => line.length > 110)).toEqual([]);
});
