import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { createTransport } from 'nodemailer';
import { until } from '../../../test/stack/until.ts';
import { freePort } from '../ports.ts';
import { InboxMailbox } from './mailbox.ts';
import { startSmtp } from './smtp.ts';

const root = mkdtempSync(join(tmpdir(), 'postrider-returns-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function givenInbox(name: string, returnsPort?: number) {
  const box = await InboxMailbox.open(join(root, name), { mailsMax: 100, bytesMax: 1e9 });
  const port = await freePort();
  const { stop } = await startSmtp(box, { host: '127.0.0.1', port, returnsPort });
  return {
    box,
    port,
    async close() {
      await stop();
      await box.close();
    },
  };
}

test('mails to addresses of returns.example go back to their return path, and others do not', async () => {
  const returned = await givenInbox('returned');
  const inbox = await givenInbox('inbox', returned.port);
  const transport = createTransport({ host: '127.0.0.1', port: inbox.port, ignoreTLS: true });
  const send = (to: string, from: string) =>
    transport.sendMail({ envelope: { from, to }, subject: 'Hello', text: 'Hello' });
  await send('ann@example.com', 'b-other@w1.bounces.example');
  await send('bounce@returns.example', 'news@example.com');
  const kinds = ['bounce', 'soft', 'complaint'];
  for (const kind of kinds) await send(`${kind}+1@returns.example`, `b-${kind}@w1.bounces.example`);
  transport.close();
  await until('three mails come back', async () => returned.box.find({}).length === 3);
  const found = returned.box.find({}).map(({ to, from }) => `${to} ${from}`);
  expect(found.toSorted()).toEqual([
    'b-bounce@w1.bounces.example ',
    'b-complaint@w1.bounces.example feedback@returns.example',
    'b-soft@w1.bounces.example ',
  ]);
  await inbox.close();
  await returned.close();
});
