import { afterEach, expect, test } from '@jest/globals';
import {
  fast,
  givenBroadcast,
  good,
  mailsTo,
  readBroadcast,
  sendNow,
  setRate,
  untilFlowing,
  untilStatus,
} from '../stack/given.ts';
import { borrowedStack } from '../stack/shared.ts';
import type { Mail } from '../stack/sink-client.ts';
import { passTime } from '../stack/time.ts';
import { until } from '../stack/until.ts';

const wellBehaved = {
  replies: [],
  dropAfterDot: 0,
  greylist: '',
  greeting: '220 sink ESMTP',
  messagesPerConnection: Number.MAX_SAFE_INTEGER,
};

const stack = borrowedStack();
afterEach(() => stack.sink.behave(wellBehaved));

async function statsOf(id: string): Promise<Record<string, number>> {
  const query = { workspace_id: stack.workspaceId, broadcast_id: id };
  return good(await stack.call('messages.broadcastStats', undefined, { query })).stats;
}

/** Everybody was tried once. */
async function untilTried(id: string, recipients: number): Promise<void> {
  await until('everybody was tried', async () => {
    const { sent_count, failed_count, deferred_count } = await readBroadcast(stack, id);
    return sent_count + failed_count + deferred_count === recipients;
  });
}

/** Mails to addresses that got more than one. */
function repeats(emails: readonly string[]): Mail[][] {
  const byEmail = Map.groupBy(mailsTo(stack, emails), ({ email }) => email);
  return [...byEmail.values()].filter((mails) => mails.length > 1);
}

test('mails whose connection drops after the dot are sent again with the same Message-ID, and counted', async () => {
  const { id, emails } = await givenBroadcast(stack, 400);
  await stack.sink.behave({ dropAfterDot: 0.05 });
  await sendNow(stack, id);
  await untilTried(id, 400);
  await stack.sink.behave(wellBehaved);
  await passTime(stack, id);
  const ended = await untilStatus(stack, id, 'sent');
  expect(ended).toMatchObject({ enqueued_count: 400, sent_count: 400, failed_count: 0 });
  const twice = repeats(emails);
  // One in twenty, give or take five times the deviation.
  expect(twice.length).toBeGreaterThan(0);
  expect(twice.length).toBeLessThan(42);
  for (const mails of twice) {
    expect(mails).toHaveLength(2);
    expect(new Set(mails.map(({ messageId }) => messageId)).size).toBe(1);
  }
  expect(mailsTo(stack, emails)).toHaveLength(400 + twice.length);
  expect(await statsOf(id)).toMatchObject({ total_sent: 400, total_unknown: twice.length });
}, 120_000);

test('a server that fails midway pauses the broadcast with the reason; it continues automatically and loses nobody', async () => {
  const { id, emails } = await givenBroadcast(stack, 400);
  await setRate(stack, 3_000);
  await sendNow(stack, id);
  await untilFlowing(stack, emails);
  await stack.sink.behave({ greeting: '421 4.3.2 closed for today', messagesPerConnection: 1 });
  const paused = await untilStatus(stack, id, 'paused');
  expect(paused.pause_reason).toMatch(/421/);
  expect(paused.pause_reason).not.toContain('@');
  expect(paused.pause_reason).not.toContain('127.0.0.1');
  expect(paused.sent_count).toBeLessThan(400);
  await stack.sink.behave(wellBehaved);
  await setRate(stack, fast);
  await passTime(stack, id);
  const ended = await untilStatus(stack, id, 'sent');
  expect(ended).toMatchObject({ enqueued_count: 400, sent_count: 400, failed_count: 0 });
  expect(mailsTo(stack, emails)).toHaveLength(400);
  expect(repeats(emails)).toEqual([]);
}, 120_000);

test('a server that refuses the sender pauses the broadcast with its reply, and nobody fails', async () => {
  const { id, emails } = await givenBroadcast(stack, 100);
  const reply = '550 5.7.1 <news@sender.example>: not yours';
  await stack.sink.behave({ replies: [{ step: 'mail', reply }] });
  await sendNow(stack, id);
  const paused = await untilStatus(stack, id, 'paused');
  expect(paused.pause_reason).toBe('MAIL was refused: 550 5.7.1 <[address]>: not yours');
  await stack.sink.behave(wellBehaved);
  await passTime(stack, id);
  const ended = await untilStatus(stack, id, 'sent');
  expect(ended).toMatchObject({ sent_count: 100, failed_count: 0 });
  expect(mailsTo(stack, emails)).toHaveLength(100);
}, 60_000);

test('a server that greylists the whole broadcast gets each mail once, without a pause', async () => {
  const { id, emails } = await givenBroadcast(stack, 100);
  await stack.sink.behave({ greylist: '450 4.2.0 greylisted' });
  await sendNow(stack, id);
  await untilTried(id, 100);
  expect(await readBroadcast(stack, id)).toMatchObject({ status: 'sending', deferred_count: 100 });
  await passTime(stack, id);
  await untilStatus(stack, id, 'sent');
  expect(mailsTo(stack, emails)).toHaveLength(100);
  expect(repeats(emails)).toEqual([]);
}, 120_000);

test('a dead mailbox ends its memberships, a refusal of the content does not', async () => {
  const { id, listId, emails } = await givenBroadcast(stack, 3);
  const [dead = '', spam = '', fine = ''] = emails;
  await stack.sink.behave({
    replies: [
      { step: 'rcpt', recipient: `^${dead}$`, reply: '550 5.1.1 no such user' },
      { step: 'dot', recipient: `^${spam}$`, reply: '554 5.7.1 looks like spam' },
    ],
  });
  await sendNow(stack, id);
  expect(await untilStatus(stack, id, 'sent')).toMatchObject({ sent_count: 1, failed_count: 2 });
  const statusOf = async (email: string) => {
    const query = { workspace_id: stack.workspaceId, email, list_id: listId };
    return good(await stack.call('contactLists.getByIDs', undefined, { query })).contact_list
      .status;
  };
  await until('the membership has bounced', async () => (await statusOf(dead)) === 'bounced');
  expect([await statusOf(spam), await statusOf(fine)]).toEqual(['active', 'active']);
}, 60_000);
