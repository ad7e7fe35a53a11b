import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals';
import { freePort } from '../ports.ts';
import { Callbacks } from './callbacks.ts';
import { InboxMailbox } from './mailbox.ts';
import { startSmtp } from './smtp.ts';
import { startWeb } from './web.ts';

const root = mkdtempSync(join(tmpdir(), 'postrider-inbox-'));
const stops: (() => Promise<void>)[] = [];
const callbackLimits = { countMax: 10, bytesMax: 1e6 };
let smtpPort = 0;
let base = '';
let folder = '';

beforeEach(async () => {
  folder = mkdtempSync(join(root, 'box-'));
  await open({ mailsMax: 10_000, bytesMax: 1e9 });
});
afterEach(close);
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function open(limits: { mailsMax: number; bytesMax: number }): Promise<void> {
  const box = await InboxMailbox.open(folder, limits);
  smtpPort = await freePort();
  const smtp = await startSmtp(box, { host: '127.0.0.1', port: smtpPort });
  const port = await freePort();
  const web = await startWeb(
    { box, callbacks: new Callbacks(callbackLimits) },
    { host: '127.0.0.1', port },
  );
  base = `http://127.0.0.1:${port}`;
  stops.push(smtp.stop, web.stop, () => box.close());
}

async function close(): Promise<void> {
  for (const stop of stops.splice(0)) await stop();
}

type Answer = {
  total: number;
  mails: { id: number; to: string }[];
  html: string;
};

async function get(path: string): Promise<Answer> {
  return (await (await fetch(base + path)).json()) as Answer;
}

type Sample = { to: string; subject?: string; id?: string; body?: string };

/** Sends over one connection: the end of a mail and the commands of the next one are one write. */
async function send(mails: Sample[]): Promise<void> {
  const socket = connect(smtpPort, '127.0.0.1').setEncoding('utf8');
  let rest = '';
  let next = 0;
  let kept = 0;
  const commands = (): string => {
    const mail = mails[next];
    if (mail === undefined) return 'QUIT\r\n';
    return `MAIL FROM:<a@example.com>\r\nRCPT TO:<${mail.to}>\r\nDATA\r\n`;
  };
  socket.on('data', (text) => {
    const lines = (rest + text).split('\r\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('220 ')) socket.write(`EHLO test\r\n${commands()}`);
      if (line.startsWith('354 ')) socket.write(`${source(mails[next++]!)}\r\n.\r\n${commands()}`);
      if (line.startsWith('250 Kept')) kept += 1;
    }
  });
  await once(socket, 'close');
  expect(kept).toBe(mails.length);
}

function source({ to, subject = 'Hi', id = to, body = 'Hello' }: Sample): string {
  const head = `Subject: ${subject}\r\nMessage-ID: <${id}>\r\nContent-Type: text/html\r\n`;
  return `${head}\r\n${body}`;
}

test('the inbox accepts 2,000 pipelined mails of 10 KB', async () => {
  const body = 'x'.repeat(70).concat('\r\n').repeat(142);
  const connections = [0, 1, 2, 3].map((number) =>
    send(Array.from({ length: 500 }, (_, at) => ({ to: `c${number}-${at}@example.com`, body }))),
  );
  await Promise.all(connections);
  expect(await get('/api/counts')).toEqual({ total: 2_000, recipients: 2_000 });
  expect(await get('/api/duplicates')).toEqual({ total: 0, duplicates: [] });
});

test('mails are listed newest first, found by recipient and counted when doubled', async () => {
  const words = '=?utf-8?B?R3LDvMOfZSA=?= =?utf-8?Q?aus_K=C3=B6ln?=';
  await send([{ to: 'one@example.com', subject: words }, { to: 'two@example.com' }]);
  await send([{ to: 'two@example.com' }]);
  const { total, mails } = await get('/api/mails?limit=2');
  expect({ total, to: mails.map((mail) => mail.to) }).toEqual({
    total: 3,
    to: ['two@example.com', 'two@example.com'],
  });
  const found = await get('/api/mails?to=ONE');
  expect(found.mails[0]).toMatchObject({
    to: 'one@example.com',
    from: 'a@example.com',
    subject: 'Grüße aus Köln',
    message_id: '<one@example.com>',
  });
  const twice = { to: 'two@example.com', message_id: '<two@example.com>', count: 2 };
  expect(await get('/api/duplicates')).toEqual({ total: 1, duplicates: [twice] });
});

test('mails survive a restart without the oldest ones and an incomplete one', async () => {
  await send(Array.from({ length: 5 }, (_, at) => ({ to: `n${at}@example.com` })));
  await close();
  const [file = ''] = readdirSync(folder);
  truncateSync(join(folder, file), readFileSync(join(folder, file)).length - 10);
  await open({ mailsMax: 3, bytesMax: 1e9 });
  await send([{ to: 'new@example.com' }]);
  const { mails } = await get('/api/mails');
  expect(mails.map((mail) => mail.to)).toEqual([
    'new@example.com',
    'n3@example.com',
    'n2@example.com',
  ]);
  expect((await get(`/api/mails/${mails[0]?.id}`)).html).toContain('Hello');
});

test('pages escape the text of mails and isolate their HTML', async () => {
  const evil = '<script>alert(1)</script>';
  await send([{ to: 'x@example.com', subject: evil, body: `<p>${evil}</p>` }]);
  const listed = await (await fetch(`${base}/`)).text();
  expect(listed).toContain('&lt;script&gt;');
  expect(listed).not.toContain('<script>');
  const page = await fetch(`${base}/mails/1`);
  expect(await page.text()).toContain('sandbox="allow-popups allow-popups-to-escape-sandbox"');
  const mail = await fetch(`${base}/mails/1/html`);
  expect(mail.headers.get('content-security-policy')).toContain("default-src 'none'");
});

test('a mail above 10 MB is refused and the next one accepted', async () => {
  const huge = 'y'.repeat(1_000).concat('\r\n').repeat(11_000);
  await expect(send([{ to: 'big@example.com', body: huge }])).rejects.toThrow();
  await send([{ to: 'small@example.com' }]);
  expect(await get('/api/counts')).toEqual({ total: 1, recipients: 1 });
});

test('delete removes all mails', async () => {
  await send([{ to: 'x@example.com' }]);
  await fetch(`${base}/api/mails`, { method: 'DELETE' });
  await send([{ to: 'y@example.com' }]);
  expect(await get('/api/counts')).toEqual({ total: 1, recipients: 1 });
});
