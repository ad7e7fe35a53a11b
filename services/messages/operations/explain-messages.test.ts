import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { MembershipStatus } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { batchOf, resetAfterEach, useService } from '../test/given.ts';
import { givenNotification, sendOf } from '../test/given-notification.ts';

const workspaceId = 'w1';
const given = useService();
resetAfterEach(given);

let count = 0;
const newEmail = () => {
  count += 1;
  return `why${count}@example.com`;
};
const subscribed = (email: string, status: MembershipStatus) =>
  given.world.subscribers.set(email, {
    subscriptions: [
      { listId: 'weekly', listName: 'Weekly', status },
      { listId: 'daily', listName: 'Daily', status: MembershipStatus.ACTIVE },
    ],
  });
async function why(email: string, over: object = {}) {
  const request = { workspaceId, email, ...over };
  const { summary, reasons } = await given.messages.explainMessages(request);
  return { summary, reasons, codes: reasons.map(({ code }) => code) };
}

test('a mail that was sent is the reason, with its message and time', async () => {
  const email = newEmail();
  subscribed(email, MembershipStatus.ACTIVE);
  const batch = batchOf([email]);
  await given.sender.sendBatch(batch);
  const { summary, reasons } = await why(` ${email.toUpperCase()} `, {
    broadcastId: batch.broadcastId,
  });
  expect(summary).toMatch(/^The mail server accepted the message/);
  expect(reasons).toMatchObject([{ code: 'sent', messageId: expect.any(String) }]);
  expect(reasons[0]?.at).toBeDefined();
});

test.each([
  ['unsubscribed', 'The message was not sent: the person had unsubscribed.'],
  ['removed', 'The message was not sent: the person was no contact, or not on the list.'],
])('a broadcast that skipped the address as %s says so', async (reason, text) => {
  const email = newEmail();
  given.world.skipReasons.set(email, reason);
  const batch = batchOf([email]);
  await given.sender.sendBatch(batch);
  const { summary, codes } = await why(email, { broadcastId: batch.broadcastId });
  expect(summary).toBe(text);
  expect(codes).toEqual([`skipped_${reason}`, 'no_contact']);
});

test('without a message consent and suppression are the reasons', async () => {
  const email = newEmail();
  subscribed(email, MembershipStatus.PENDING);
  await given.suppressions.addSuppression({ workspaceId, email, reason: 'complained' });
  const { summary, codes, reasons } = await why(email);
  expect(codes).toEqual(['no_message', 'suppressed', 'list_pending']);
  expect(summary).toMatch(/^No such message .* is on record. The address is on the suppression/);
  expect(reasons[2]?.text).toBe('The subscription to the list Weekly is not confirmed.');
});

test('mail of a notification asks for no consent', async () => {
  const email = newEmail();
  const id = await givenNotification(given);
  const sendAt = { seconds: BigInt(Math.floor(Date.now() / 1_000) + 3_600), nanos: 0 };
  await given.transactional.sendTransactional(sendOf(id, { contact: { email }, sendAt }));
  expect((await why(email, { notificationId: id })).codes).toEqual(['queued']);
  expect((await why(email, { notificationId: 'other' })).codes).toEqual(['no_message']);
});

test('a warm-up whose day is spent and a hold are reasons', async () => {
  const email = newEmail();
  subscribed(email, MembershipStatus.ACTIVE);
  given.world.warmUp = { startedOn: new Date().toISOString().slice(0, 10), dailyLimits: [1] };
  given.world.marketingProvider = 'warming';
  await query(
    given.store.fork(),
    `insert into sending_rates (workspace_id, integration_id, tokens, granted, updated_at, day, day_count)
     values ('w1', 'warming', 0, 0, now(), (now() at time zone 'utc')::date, 1)`,
    [],
  );
  const reason = { value: 'restored from a backup' };
  const own = given.newProcess({ hold: Object.create(given.context.hold, { reason }) });
  const { reasons } = await own.messages.explainMessages({ workspaceId, email });
  own.context.admission.close();
  expect(reasons.map(({ code }) => code)).toEqual(['no_message', 'hold', 'warm_up_limit']);
});

test.each([
  [{ email: 'nobody' }, 'email must be one email address'],
  [{ broadcastId: 'b', notificationId: 'n' }, /must not be given together/],
])('why refuses %j', async (wrong, text) => {
  await expect(why(newEmail(), wrong)).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: expect.stringMatching(text),
  });
});
