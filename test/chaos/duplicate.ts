import { once } from 'node:events';
import { connect } from 'node:net';
import type { TestStack } from '../stack.ts';
import type { Sent } from './checker.ts';

/**
 * Sends one mail to the sink again that is not counted as unknown, which the checker has to find.
 */
export async function duplicate(stack: TestStack, { emails }: Sent): Promise<void> {
  const email = await surelyOnce(stack, emails);
  const mail = stack.mails().find((each) => each.email === email);
  const port = Number(new URL(stack.settings.SMTP_URL ?? '').port);
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  const say = async (text: string): Promise<void> => {
    socket.write(text);
    await once(socket, 'data');
  };
  await once(socket, 'data');
  await say('EHLO chaos\r\n');
  await say('MAIL FROM:<chaos@example.com>\r\n');
  await say(`RCPT TO:<${email}>\r\n`);
  await say('DATA\r\n');
  await say(`Message-ID: ${mail?.messageId}\r\nSubject: again\r\n\r\nagain\r\n.\r\n`);
  socket.end('QUIT\r\n');
}

/** An address that got one mail, whose outcome was never unknown. */
async function surelyOnce(stack: TestStack, emails: readonly string[]): Promise<string> {
  for (const email of emails) {
    const query = { workspace_id: stack.workspaceId, contact_email: email };
    const { body } = await stack.call('messages.list', undefined, { query });
    if (body.messages.length === 1 && body.messages[0].unknown === 0) return email;
  }
  throw new Error('the fate of every message was in doubt');
}
