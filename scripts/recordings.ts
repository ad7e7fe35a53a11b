import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Postrider } from '../clients/typescript/src/index.ts';

/**
 * Writes the recordings of docs/reference/command-line.md: what a terminal shows of real runs, on
 * the stack that BASE_URL, TOKEN and WORKSPACE_ID name. Needs `script` of util-linux.
 */

const { BASE_URL: baseUrl = '', TOKEN: token = '', WORKSPACE_ID: workspaceId = '' } = process.env;
const root = resolve(import.meta.dirname, '..');
const page = join(root, 'docs/reference/command-line.md');
const folder = mkdtempSync(join(tmpdir(), 'postrider-recordings-'));
/** It comes into no document. */
const secretForm = /whsec_[A-Za-z0-9+/=]+/g;
const secretShown = 'whsec_…';
/** States that are shown of a line that was written over. */
const framesMax = 4;
const program = join(root, 'deploy/postrider/main.ts');
const api = new Postrider({ baseUrl, token, workspaceId });
const rows = 1_000_000;
const readers = 5_000;

type Beside = (said: () => string, interrupt: () => void) => Promise<void>;

/** The largest memory of a command so far, in bytes. */
let memoryBytes = 0;

/** The screen of a command, while `beside` happens. */
async function recorded(args: readonly string[], beside: Beside = async () => {}): Promise<string> {
  const line = [process.execPath, program, ...args].map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['-qec', `stty cols 100 -echoctl; exec ${line}`, '/dev/null'], {
    env: { ...process.env, HOME: folder },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (part) => {
    text += part;
  });
  const over = once(child, 'close');
  const looking = setInterval(() => {
    memoryBytes = Math.max(memoryBytes, memoryOfChild(child.pid));
  }, 500);
  await beside(
    () => text,
    () => void child.stdin.write('\u0003'),
  );
  await over;
  clearInterval(looking);
  const shown = [`$ postrider ${args.join(' ')}`, ...linesOf(text)].join('\n').trimEnd();
  return shown.replaceAll(secretForm, secretShown).replaceAll(`${folder}/`, '');
}

/** The most that the command of `script` has had in memory; 0 where the system does not say it. */
function memoryOfChild(pid: number | undefined): number {
  try {
    const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
    const status = readFileSync(`/proc/${child}/status`, 'utf8');
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1_024;
  } catch {
    return 0;
  }
}

/** Of a line that was written over, some of its states. */
function linesOf(text: string): string[] {
  const lines = text.replaceAll('\u0003', '').replaceAll('\r\n', '\n').trimEnd().split('\n');
  return lines.flatMap((line) => {
    const frames = line
      .split('\r')
      .map((frame) => frame.trimEnd())
      .filter(Boolean);
    const step = Math.max(1, Math.ceil((frames.length - 1) / (framesMax - 1)));
    return frames.filter((_, at) => at % step === 0 || at === frames.length - 1);
  });
}

async function until(what: string, isTrue: () => boolean, triesMax = 600): Promise<void> {
  for (let tries = 0; !isTrue(); tries += 1) {
    if (tries > triesMax) throw new Error(`${what} did not happen`);
    await sleep(100);
  }
}

async function listening(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(response.headersSent ? 500 : 200).end());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `localhost:${port}/hooks`;
  const args = ['listen', '--forward-to', url, '--events', 'contact.created,email.bounced'];
  const text = await recorded(args, async (said, interrupt) => {
    await until('it listens', () => said().includes('Ctrl-C'));
    await api.contacts.upsert({ contact: { email: `ada${Date.now()}@example.com` } });
    await until('the contact came', () => said().includes('contact.created  '));
    await api.webhookListeners.trigger({ event_type: 'email.bounced' });
    await until('the bounce came', () => said().includes('email.bounced  '));
    interrupt();
  });
  server.close();
  return text.replaceAll(`:${port}`, ':3000');
}

function givenFile(name: string, count: number): string {
  const file = join(folder, name);
  const lines = Array.from(
    { length: count },
    (_, at) => `r${at}@${Date.now()}.example.com,"Reader ${at}"`,
  );
  lines[count - 1] = 'no address,"Nobody"';
  writeFileSync(file, `email,first_name\n${lines.join('\n')}\n`);
  return file;
}

/** Stopped by Ctrl-C in the middle, and resumed. */
async function importing(): Promise<string> {
  const file = givenFile('readers.csv', rows);
  const args = ['contacts', 'import', file, '--failed-to', join(folder, 'failed.jsonl')];
  memoryBytes = 0;
  const begun = await recorded(args, async (said, interrupt) => {
    const done = () => Number(/(\d+) rows[^\r]*\r?$/.exec(said())?.[1] ?? 0);
    await until('the middle came', () => done() > 0.4 * rows, 3_000);
    interrupt();
  });
  const resumed = await recorded([...args, '--resume']);
  process.stdout.write(`The import had ${Math.round(memoryBytes / 1e6)} MB at most.\n`);
  return `${begun}\n\n${resumed}`;
}

async function watching(): Promise<string> {
  const id = `r${Date.now()}`;
  await api.lists.create({ id, name: 'Recorded' });
  const contacts = Array.from({ length: 1_000 }, (_, at) => ({ email: `w${at}@example.com` }));
  for (let batch = 0; batch < readers / contacts.length; batch += 1) {
    const own = contacts.map(({ email }) => ({ email: `${batch}${email}` }));
    await api.contacts.import({ contacts: own, subscribe_to_lists: [id] });
  }
  const { template } = await api.templates.create({
    ...{ id, name: 'Recorded', channel: 'email', category: 'marketing' },
    email: {
      editor_mode: 'code',
      subject: 'News',
      mjml_source:
        '<mjml><mj-body><mj-section><mj-column><mj-text><a href="{{ unsubscribe_url }}">Leave</a></mj-text></mj-column></mj-section></mj-body></mjml>',
    },
  });
  const { broadcast } = await api.broadcasts.create({
    name: 'News',
    audience: { list: id },
    test_settings: { enabled: false, variations: [{ template_id: template.id }] },
  });
  await api.broadcasts.schedule({ id: broadcast.id, send_now: true });
  return recorded(['broadcasts', 'watch', broadcast.id]);
}

const recordings = { listen: listening, import: importing, watch: watching };
try {
  let text = readFileSync(page, 'utf8');
  for (const [name, record] of Object.entries(recordings)) {
    const shown = await record();
    const [begin, end] = [`<!-- recording: ${name} -->`, '<!-- end -->'];
    const [before, after] = text.split(begin);
    if (before === undefined || after === undefined) throw new Error(`${page} has no ${begin}`);
    const rest = after.slice(after.indexOf(end));
    text = `${before}${begin}\n\n\`\`\`text\n${shown}\n\`\`\`\n\n${rest}`;
  }
  writeFileSync(page, text);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
