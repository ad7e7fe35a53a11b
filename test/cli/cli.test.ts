import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { programVariables } from '../setup/program.ts';
import { givenBroadcast, givenTemplate, good, unique } from '../stack/given.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';

/** `postrider` as people call it, on a stack. */

const program = resolve(import.meta.dirname, '../../deploy/postrider/main.ts');

const stack = borrowedStack();
let home: string;
let environment: Record<string, string | undefined>;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'postrider-cli-'));
  const { BASE_URL, TOKEN, WORKSPACE_ID } = stack.settings;
  const given = { BASE_URL, TOKEN, WORKSPACE_ID };
  environment = { ...programVariables(), HOME: home, ...given };
});

type Ended = { code: number | null; out: string; err: string };

async function postrider(
  args: readonly string[],
  { env = environment, input = '' } = {},
): Promise<Ended> {
  return ended(spawn(process.execPath, [program, ...args], { env }), input);
}

async function ended(child: ChildProcessWithoutNullStreams, input = ''): Promise<Ended> {
  const said = { out: '', err: '' };
  child.stdout.on('data', (part) => {
    said.out += part;
  });
  child.stderr.on('data', (part) => {
    said.err += part;
  });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [code] = await once(child, 'close');
  return { code, ...said };
}

const jsonOf = ({ out }: Ended) => JSON.parse(out);

test('an operation prints its answer in JSON', async () => {
  const id = unique('list');
  const made = await postrider(['lists', 'create', id, 'Readers', '--is-public']);
  expect(made).toMatchObject({ code: 0, err: '' });
  expect(jsonOf(made)).toMatchObject({ list: { id, name: 'Readers', is_public: true } });
  expect(jsonOf(await postrider(['lists', 'get', id]))).toMatchObject({ list: { id } });
});

test('a call that is about no workspace is made as well', async () => {
  const listed = await postrider(['workspaces', 'list']);
  expect(listed).toMatchObject({ code: 0, err: '' });
  expect(jsonOf(listed)).toContainEqual(expect.objectContaining({ id: stack.workspaceId }));
});

test('a request comes from the standard input, and flags replace its fields', async () => {
  const email = `${unique('a')}@example.com`;
  const contact = JSON.stringify({ contact: { email, first_name: 'Ada' } });
  const made = await postrider(['contacts', 'upsert', '--data', '-'], { input: contact });
  expect(jsonOf(made)).toMatchObject({ action: 'create', email });
  const found = await postrider(['contacts', 'getByEmail', email]);
  expect(jsonOf(found)).toMatchObject({ contact: { first_name: 'Ada' } });
});

test('exit codes say what went wrong, and the text which field', async () => {
  const notFound = await postrider(['lists', 'get', 'none']);
  expect(notFound).toMatchObject({ code: 4, out: '' });
  expect(notFound.err).toContain('List not found');
  const refused = await postrider(['lists', 'create', 'no spaces', 'A']);
  expect(refused.code).toBe(5);
  expect(refused.err).toMatch(/\n {2}id: /);
  const wrong = await postrider(['lists', 'create', '--limit', '5']);
  expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('--limit') });
  const env = { ...environment, TOKEN: 'none' };
  expect(await postrider(['lists', 'list'], { env })).toMatchObject({
    code: 3,
    err: expect.stringContaining('postrider login'),
  });
  const nowhere = { ...environment, BASE_URL: `http://127.0.0.1:${await closedPort()}` };
  expect((await postrider(['lists', 'list'], { env: nowhere })).code).toBe(7);
});

/** A port that nothing listens on. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

test('a sign-in keeps the key where only its owner reads it, and asks nothing without a terminal', async () => {
  const { BASE_URL, TOKEN, ...others } = environment;
  const env = { ...others, HOME: mkdtempSync(join(home, 'home-')) };
  const args = ['login', '--gateway', BASE_URL ?? '', '--workspace', stack.workspaceId];
  const asked = await postrider(args, { env });
  expect(asked).toMatchObject({ code: 2, err: expect.stringContaining('without a terminal') });
  const signedIn = await postrider([...args, '--key-stdin'], { env, input: `${TOKEN}\n` });
  expect(signedIn).toMatchObject({ code: 0 });
  expect(signedIn.out).not.toContain(TOKEN);
  const file = join(env.HOME, '.config/postrider/profiles.json');
  expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ default: { token: TOKEN } });
  expect((await postrider(['lists', 'list'], { env })).code).toBe(0);
  expect(await postrider(['lists', 'list', '--profile', 'none'], { env })).toMatchObject({
    code: 2,
  });
});

/** A file with two rows that fail. */
function givenFile(listId: string, rows: number): string {
  const file = join(home, `${listId}.csv`);
  const lines = Array.from(
    { length: rows },
    (_, at) =>
      `${at % 5_000 === 7 ? 'no address' : `r${at}@${listId.toLowerCase()}.example.com`},"A, ${at}"`,
  );
  writeFileSync(file, `email,first_name\n${lines.join('\n')}\n`);
  return file;
}

test('a file of contacts is imported with progress, and its failed rows go to a file', async () => {
  const listId = unique('list');
  good(
    await stack.call('lists.create', { workspace_id: stack.workspaceId, id: listId, name: 'L' }),
  );
  const file = givenFile(listId, 6_000);
  const failedTo = join(home, 'failed.jsonl');
  const args = ['contacts', 'import', file, '--subscribe-to-lists', listId];
  const done = await postrider([...args, '--failed-to', failedTo]);
  expect(jsonOf(done)).toMatchObject({ rows: 6_000, created: 5_998, failed_total: 2 });
  expect(done.code).toBe(1);
  expect(done.err).toMatch(/\n6000 rows, 5998 new, 0 changed\n/);
  const failed = readFileSync(failedTo, 'utf8').trim().split('\n');
  expect(failed.map((line) => JSON.parse(line).line)).toEqual([9, 5_009]);
});

/** Rows that only the server counts right: semicolons, quotes, several kinds of line ends. */
function givenHardFile(listId: string, rows: number): string {
  const file = join(home, `${listId}.csv`);
  const lines = Array.from({ length: rows }, (_, at) => {
    const email = at % 4_000 === 7 ? 'no address' : `r${at}@${listId.toLowerCase()}.example.com`;
    return `${email};"Main St ${at},"${at % 3 === 0 ? '\r\n' : '\n'}`;
  });
  lines[5] = `many@${listId.toLowerCase()}.example.com;"two\nlines"\n`;
  writeFileSync(file, `\uFEFFemail;first_name\r\n${lines.join('')}`);
  return file;
}

/** Starts a command, and kills it once it has said what is asked for. */
async function killedAt(args: readonly string[], said: RegExp): Promise<void> {
  const child = spawn(process.execPath, [program, ...args], { env: environment });
  child.stdin.end();
  let text = '';
  child.stderr.on('data', (part) => {
    text += part;
    if (said.test(text)) child.kill('SIGKILL');
  });
  await once(child, 'close');
  expect(text).toMatch(said);
}

test('an import that was killed goes on behind the rows that are written, and loses none', async () => {
  const listId = unique('list');
  good(
    await stack.call('lists.create', { workspace_id: stack.workspaceId, id: listId, name: 'L' }),
  );
  const file = givenHardFile(listId, 20_000);
  const failedTo = join(home, 'hard.jsonl');
  const args = [
    'contacts',
    'import',
    file,
    '--subscribe-to-lists',
    listId,
    '--failed-to',
    failedTo,
  ];
  await killedAt(args, /^\d+ rows/);
  const { done } = JSON.parse(readFileSync(`${file}.postrider-import`, 'utf8'));
  expect(done.rows).toBeLessThan(20_000);
  const rest = await postrider([...args, '--resume']);
  expect(jsonOf(rest)).toMatchObject({ rows: 20_000, failed_total: 5 });
  expect(rest.code).toBe(1);
  const failed = readFileSync(failedTo, 'utf8').trim().split('\n');
  expect(failed.map((line) => JSON.parse(line).line)).toEqual([10, 4_010, 8_010, 12_010, 16_010]);
  const stats = await postrider(['lists', 'stats', listId]);
  expect(jsonOf(stats)).toMatchObject({ stats: { total_active: 19_995 } });
  expect(existsSync(`${file}.postrider-import`)).toBe(false);
});

test('the place of an import into another list is none', async () => {
  const listId = unique('list');
  const other = unique('list');
  for (const id of [listId, other]) {
    good(await stack.call('lists.create', { workspace_id: stack.workspaceId, id, name: 'L' }));
  }
  const file = givenFile(listId, 20_000);
  const args = (list: string) => ['contacts', 'import', file, '--subscribe-to-lists', list];
  await killedAt(args(listId), /^\d+ rows/);
  const whole = await postrider([...args(other), '--resume']);
  expect(whole.err).toContain('Nothing to resume');
  expect(jsonOf(whole)).toMatchObject({ rows: 20_000 });
});

test('a file that cannot be written beside is imported all the same', async () => {
  const { code, err } = await shell(
    `printf 'email\\npipe@example.com\\n' | "$0" "$1" contacts import /dev/stdin`,
  );
  expect({ code, err }).toEqual({ code: 0, err: '1 rows, 1 new, 0 changed\n' });
});

test('an output that cannot be written is a failure', async () => {
  const { code, err } = await shell('"$0" "$1" completion bash > /dev/full');
  expect(code).toBe(1);
  expect(err).toContain('cannot be written');
});

function shell(line: string): Promise<Ended> {
  return ended(spawn('bash', ['-c', line, process.execPath, program], { env: environment }));
}

test('a broadcast is watched until it is sent', async () => {
  const { id } = await givenBroadcast(stack, 20);
  const request = { workspace_id: stack.workspaceId, id, send_now: true };
  good(await stack.call('broadcasts.schedule', request));
  const watched = await postrider(['broadcasts', 'watch', id]);
  expect(watched).toMatchObject({ code: 0, out: '' });
  expect(watched.err).toContain('sent, 20 of 20, 20 sent\n');
});

test('an export is printed as it comes', async () => {
  const { listId, emails } = await givenBroadcast(stack, 3);
  const lines = (await postrider(['lists', 'export', listId])).out.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).contact.email)).toEqual(emails.toSorted());
  const csv = await postrider(['lists', 'export', listId, '--format', 'csv']);
  expect(csv.out.split('\n')[0]).toContain('email');
});

test('templates go into a folder and come back from it, only those that differ', async () => {
  const [a, b] = [await givenTemplate(stack), await givenTemplate(stack)];
  const folder = join(home, 'templates');
  expect((await postrider(['templates', 'pull', folder])).code).toBe(0);
  const same = await postrider(['templates', 'push', folder]);
  expect(same.err).not.toMatch(/(creat|updat)ed/);
  writeFileSync(join(folder, a, 'body.mjml'), '<mjml><mj-body></mj-body></mjml>');
  const copied = `${b.slice(0, 20)}copy`;
  cpSync(join(folder, b), join(folder, copied), { recursive: true });
  const tried = await postrider(['templates', 'push', folder, '--dry-run']);
  expect(tried.err).toContain(`${copied} would be created\n`);
  const pushed = await postrider(['templates', 'push', folder]);
  expect(pushed.err).toContain(`${a} updated\n`);
  expect(pushed.err).toContain(`${b} is the same\n`);
  expect(pushed.err).toContain(`${copied} created\n`);
  const read = jsonOf(await postrider(['templates', 'get', a]));
  expect(read.template.email.mjml_source).toBe('<mjml><mj-body></mj-body></mjml>');
  expect((await postrider(['templates', 'push', folder])).err).not.toMatch(/(creat|updat)ed/);
});

test('why an address gets no mail is said with what to do, and what holds mail back', async () => {
  const email = `${unique('b')}@example.com`;
  const contact = JSON.stringify({ email });
  expect((await postrider(['contacts', 'upsert', '--contact', contact])).code).toBe(0);
  expect((await postrider(['suppressions', 'add', email])).code).toBe(0);
  const explained = await postrider(['messages', 'why', email]);
  expect(explained).toMatchObject({ code: 0, err: '' });
  const { summary, reasons, not_read } = jsonOf(explained);
  expect(summary).toContain('The address is on the suppression list');
  expect(not_read).toEqual([]);
  expect(reasons.map(({ code }: { code: string }) => code)).toEqual(
    expect.arrayContaining(['no_message', 'suppressed', 'no_list']),
  );
  expect(reasons).toContainEqual(
    expect.objectContaining({
      code: 'suppressed',
      advice: expect.stringContaining(`postrider suppressions remove ${email}`),
    }),
  );
  expect((await postrider(['messages', 'why', 'nobody'])).code).toBe(5);
});

/** A folder of one template. */
function givenTemplateFolder(mjml: string): string {
  const folder = mkdtempSync(join(home, 'template-'));
  const email = { editor_mode: 'code', subject: 'Hi {{ contact.first_name }}' };
  const template = { name: 'Hello', channel: 'email', category: 'transactional', email };
  writeFileSync(join(folder, 'template.json'), JSON.stringify(template));
  writeFileSync(join(folder, 'body.mjml'), mjml);
  return folder;
}

const mjmlOf = (text: string) =>
  `<mjml>\n<mj-body>\n<mj-section><mj-column><mj-text>${text}</mj-text></mj-column></mj-section>\n</mj-body>\n</mjml>\n`;

test('a template is rendered as its folder has it, and its mistakes have their lines', async () => {
  const folder = givenTemplateFolder(mjmlOf('Hello {{ contact.first_name }}'));
  const contact = ['--contact', '{"email":"ada@example.com","first_name":"Ada"}'];
  const shown = await postrider(['templates', 'preview', folder, ...contact]);
  expect(shown.code).toBe(0);
  expect(shown.out).toContain('>Hello Ada<');
  writeFileSync(
    join(folder, 'body.mjml'),
    '<mjml>\n<mj-body>\n<mj-txt>x</mj-txt>\n</mj-body></mjml>',
  );
  const wrong = await postrider(['templates', 'preview', folder]);
  expect(wrong).toMatchObject({ code: 1, out: '' });
  expect(wrong.err).toContain('body.mjml:3: mj-txt: ');
});

test('a template is rendered again at each change of its folder', async () => {
  const folder = givenTemplateFolder(mjmlOf('one'));
  const to = join(folder, 'preview.html');
  const args = [program, 'templates', 'watch', folder, '--to', to];
  const child = spawn(process.execPath, args, { env: environment });
  const over = ended(child);
  const isWritten = (text: string) => existsSync(to) && readFileSync(to, 'utf8').includes(text);
  await until('it is rendered', async () => isWritten('>one<'));
  writeFileSync(join(folder, 'body.mjml'), mjmlOf('two'));
  await until('it is rendered again', async () => isWritten('>two<'));
  child.kill('SIGINT');
  const { code, err } = await over;
  expect(code).toBe(0);
  expect(err.split('\n').filter((line) => line.includes('written')).length).toBeLessThan(4);
});

test('every shell gets a script that completes resources and operations', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, out } = await postrider(['completion', shell]);
    expect({ shell, code, isWhole: /lists.*subscribe/s.test(out) }).toEqual({
      ...{ shell, code: 0, isWhole: true },
    });
  }
});

test('a word that is none is refused with the list of words', async () => {
  expect(await postrider(['nothing'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('nothing is not a word of postrider'),
  });
});
