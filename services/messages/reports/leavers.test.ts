import { createRouterTransport } from '@connectrpc/connect';
import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { openOutbox } from '#lib/events/outbox.ts';
import { useService } from '../test/given.ts';
import { givenKey, givenSent, report, reportsAbout, takeEvents } from '../test/given-reports.ts';

const given = useService();
let process: ReturnType<typeof given.newProcess>;
let key = '';
beforeAll(async () => {
  const anywhere = createRouterTransport(() => {});
  const outbox = openOutbox('messages', { contacts: anywhere, webhooks: anywhere });
  process = given.newProcess({ outbox });
  key = await givenKey(given);
});
afterEach(() => {
  given.world.unsubscribed = [];
});

const timestamp = new Date(Date.now() + 1_000).toISOString();

async function givenMail() {
  const email = `${crypto.randomUUID()}@example.com`;
  const { batch, ids } = await givenSent(given, [email]);
  const [id = ''] = ids;
  const { complaint } = reportsAbout(id, email);
  const left = { ...complaint, complaint_type: 'opt-out', timestamp };
  return { email, id, listId: batch.plan?.listId ?? '', left };
}

async function messageOf(id: string) {
  return (await given.messages.getMessage({ workspaceId: 'w1', id })).message;
}

test('somebody who left at the provider is unsubscribed from the list of the mail, once, and is no complaint', async () => {
  const { email, id, listId, left } = await givenMail();
  await report(process, key, [left]);
  await report(process, key, [left]);
  const [change, ...others] = given.world.unsubscribed;
  expect(change).toMatchObject({ listId, email });
  expect(others).toEqual([]);
  // A report cannot speak of the future.
  expect(Date.parse(change?.happenedAt ?? '')).toBeLessThanOrEqual(Date.now());
  const message = await messageOf(id);
  expect(message?.unsubscribedAt).toBeDefined();
  expect(message?.complainedAt).toBeUndefined();
  const events = (await takeEvents(process.context)).filter(({ data }) => data.message_id === id);
  expect(events.map(({ type }) => type)).toEqual(['email.unsubscribed']);
});

test('a report that names another recipient, or another integration, unsubscribes nobody', async () => {
  const { left } = await givenMail();
  const other = await givenMail();
  await report(process, key, [{ ...left, recipient: other.email }]);
  const place = { workspaceId: 'w1', integrationId: 'smtp-2' };
  await report(process, await givenKey(given, place), [other.left], place);
  expect(given.world.unsubscribed).toEqual([]);
});

test('a membership is left as of when the person left, however late the report comes', async () => {
  const { id, left } = await givenMail();
  const { sentAt } = (await messageOf(id)) ?? {};
  const sentMs = Number(sentAt?.seconds) * 1_000;
  await report(process, key, [{ ...left, timestamp: new Date(sentMs + 2).toISOString() }]);
  const [change] = given.world.unsubscribed;
  expect(Date.parse(change?.happenedAt ?? '') - sentMs).toBeLessThan(1_000);
});
