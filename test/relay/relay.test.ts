import { beforeAll, expect, test } from '@jest/globals';
import { createTransport } from 'nodemailer';
import { resetAfterEach, useService } from '../../services/messages/test/given.ts';
import { until } from '../stack/until.ts';
import { givenRelay, givenSignedIn, key, send } from './given-relay.ts';

const given = useService();
resetAfterEach(given);
// On a busy machine a message may not be begun within its five seconds.
beforeAll(() => given.context.transactional.queue.start());

const trace =
  /^Received: by relay\.example \(Postrider\) with ESMTPS?A id \w+\.\d+;\r\n\t[^\r]+\r\n/;

async function bodyTo(email: string): Promise<string> {
  await until('the mail arrives', async () => given.sink.bodies(email).length > 0, {
    withinMs: 15_000,
  });
  return given.sink.bodies(email)[0] ?? '';
}

const head = [
  'From: News <news@sender.example>',
  'To: Ann <ann@example.com>',
  'Subject: Hello',
  'Date: Fri, 27 Nov 2026 00:00:00 +0000',
  'Message-ID: <a@origin.example>',
].join('\r\n');

test('a mail comes by SMTP and arrives as it came, below the line of the relay', async () => {
  const { port, stop } = await givenRelay(given);
  const client = await givenSignedIn(port);
  const mail = `${head}\r\n\r\n..dot\r\nHello \t\r\n\r\n`;
  const reply = await send(client, { to: ['ann@example.com'], mail });
  expect(reply).toMatch(/^250 2\.0\.0 queued as [0-9a-f-]{36}$/);
  const body = await bodyTo('ann@example.com');
  expect(body).toMatch(trace);
  expect(body.replace(trace, '')).toBe(mail);
  const id = reply.split(' ').at(-1) ?? '';
  const { message } = await given.messages.getMessage({ workspaceId: 'w1', id });
  expect(message?.contactEmail).toBe('ann@example.com');
  client.socket.destroy();
  await stop();
});

test('nodemailer sends by STARTTLS and by TLS from the start', async () => {
  const { port, portOfTls, stop } = await givenRelay(given, { allowsPlaintext: false });
  for (const secure of [false, true]) {
    const to = `tls-${secure}@example.com`;
    const transport = createTransport({
      ...{ host: '127.0.0.1', port: secure ? portOfTls : port, secure },
      ...{ tls: { rejectUnauthorized: false }, auth: { user: 'apikey', pass: key } },
    });
    const { response } = await transport.sendMail({
      ...{ from: 'News <news@sender.example>', to, subject: 'Grüße', text: 'Hällo' },
    });
    transport.close();
    expect(response).toMatch(/^250 2\.0\.0 queued as /);
    expect(await bodyTo(to)).toMatch(/^Received: by relay\.example \(Postrider\) with ESMTPSA /);
  }
  await stop();
});
