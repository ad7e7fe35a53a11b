import { beforeAll, expect, test } from '@jest/globals';
import { until } from '../../../test/stack/until.ts';
import { resetAfterEach, useService } from '../test/given.ts';

const workspaceId = 'w1';
const given = useService();
resetAfterEach(given);
// On a busy machine a message may not be begun within its five seconds.
beforeAll(() => given.context.transactional.queue.start());

let count = 0;
const address = () => {
  count += 1;
  return `relayed-${count}@example.com`;
};
const from = 'From: News <news@sender.example>';
const dated = [
  'Date: Fri, 27 Nov 2026 00:00:00 +0000',
  'Message-ID: <1@origin.example>',
  'Subject: Hi',
];
const mailOf = (head: readonly string[], body = 'Hello\r\n', encoding: BufferEncoding = 'latin1') =>
  Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`, encoding);
const relay = (mail: Buffer, ...recipients: string[]) =>
  given.relay.relayMail({ workspaceId, recipients, mail });

/** The mail that the server got, without the dots and the end that SMTP adds. */
async function arrived(email: string): Promise<string> {
  await until('the mail arrives', async () => given.sink.bodies(email).length > 0, {
    withinMs: 15_000,
  });
  return (given.sink.bodies(email)[0] ?? '').replace(/(^|\r\n)\.\./g, '$1.');
}

test('a mail goes out as it came, byte for byte', async () => {
  const body = '.\r\n..two\r\n.x\r\n\r\n=20 \t\r\nlast\r\n\r\n';
  const mail = mailOf(
    ['X-Odd :  spaced \t', from, 'To:  "A  B" <a@b.example>,\r\n\t<c@d.example>', ...dated],
    body,
  );
  const email = address();
  const { messageIds } = await relay(mail, email);
  expect(await arrived(email)).toBe(mail.toString('latin1'));
  const [id = ''] = messageIds;
  await until('it is sent', async () => {
    const { message } = await given.messages.getMessage({ workspaceId, id });
    return message?.status === 'sent';
  });
  const { message } = await given.messages.getMessage({ workspaceId, id });
  expect(message?.rawContent).toMatchObject({
    ...{ subject: 'Hi', fromEmail: 'news@sender.example', fromName: 'News' },
  });
});
