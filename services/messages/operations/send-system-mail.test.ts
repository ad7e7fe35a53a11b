import { Code, createClient } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { SystemMailService } from '#gen/postrider/messages/v1/messages_pb.ts';
import { testTransport } from '../../../test/setup/service.ts';
import { openSystemMail } from '../providers/system-mail.ts';
import { messagesRoutes } from '../service.ts';
import { useService } from '../test/given.ts';

const given = useService();

const mail = {
  key: 'webhook/s1/1',
  to: 'Owner@Example.com',
  subject: 'Webhooks were disabled ✓',
  text: 'The endpoint answered 410 Gone.\n',
};

const clientWith = (url?: string) =>
  createClient(
    SystemMailService,
    testTransport(
      messagesRoutes({
        ...given.context,
        systemMail: url ? openSystemMail({ url, from: 'system@postrider.example' }) : undefined,
      }),
    )(),
  );

test('a mail goes out through the system server, under the same Message-ID each time', async () => {
  const client = clientWith(`smtp://127.0.0.1:${given.sink.port}`);
  await client.sendSystemMail(mail);
  await client.sendSystemMail(mail);
  const sent = given.sink.bodies('owner@example.com');
  expect(sent).toHaveLength(2);
  for (const raw of sent) {
    expect(raw).toContain('Message-ID: <webhook.s1.1@postrider.example>');
    expect(raw).toContain('The endpoint answered 410 Gone.');
  }
});

test.each([
  [{ to: 'nobody' }, 'to is not a valid address'],
  [{ subject: 'a\r\nBcc: all@example.com' }, expect.stringContaining('subject')],
  [{ key: 'a b' }, expect.stringContaining('key')],
  [{ text: '' }, 'text is required'],
])('%j is refused', async (over, rawMessage) => {
  const client = clientWith(`smtp://127.0.0.1:${given.sink.port}`);
  await expect(client.sendSystemMail({ ...mail, ...over })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage,
  });
});

test('without a system server it says which variable is missing', async () => {
  await expect(clientWith().sendSystemMail(mail)).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage: "no server is set for the installation's own mail",
  });
});

test('the error for a server that is down contains no address', async () => {
  const error = await clientWith('smtp://127.0.0.1:1')
    .sendSystemMail(mail)
    .catch((failure: unknown) => failure);
  expect(error).toMatchObject({ code: Code.Unavailable });
  expect(`${error}`).not.toContain('@');
});
