import { expect, test } from '@jest/globals';
import { createTransport } from 'nodemailer';
import { resetAfterEach, useService } from '../../services/messages/test/given.ts';
import { applyAll, givenSent, takeEvents } from '../../services/messages/test/given-reports.ts';
import { dsnOf, feedbackOf } from '../../services/messages/test/given-returned-mail.ts';
import { givenDoor } from './given-door.ts';

const given = useService();
resetAfterEach(given);

const workspaceId = 'w1';

test('a mail that a slice sends comes back by SMTP, and its message bounces once', async () => {
  const { process, port, stop } = await givenDoor(given);
  given.sink.behaviour.dsn = true;
  const [dead, angry] = ['dead@example.com', 'angry@example.com'];
  const { ids } = await givenSent(process, [dead, angry]);
  await takeEvents(process.context);
  const transport = createTransport({
    host: '127.0.0.1',
    port,
    tls: { rejectUnauthorized: false },
  });
  const comeBack = async (email: string, raw: Buffer, from: string) => {
    const [mail = ''] = given.sink.envelopes(email)[0] ?? [];
    const to = /<(.*)> RET=HDRS/.exec(mail)?.[1] ?? '';
    await transport.sendMail({ envelope: { from, to }, raw });
    await applyAll(process.context);
  };
  const notification = dsnOf(dead, { diagnostic: '550 5.1.1 no such user' });
  for (let each = 0; each < 2; each += 1) await comeBack(dead, notification, '');
  await comeBack(angry, feedbackOf('abuse'), 'feedback@mailbox.example');
  transport.close();
  await stop();
  const statuses = ids.map(async (id) => {
    const { message } = await given.messages.getMessage({ workspaceId, id });
    return message?.status;
  });
  expect(await Promise.all(statuses)).toEqual(['bounced', 'complained']);
  const { suppressions } = await given.suppressions.listSuppressions({ workspaceId });
  const reasons = suppressions.map(({ email, reason }) => `${email} ${reason}`);
  expect(reasons.toSorted()).toEqual([`${angry} complained`, `${dead} bounced`]);
  const types = (await takeEvents(process.context)).map(({ type }) => type);
  expect(types.toSorted()).toEqual(['email.bounced', 'email.complained']);
});
