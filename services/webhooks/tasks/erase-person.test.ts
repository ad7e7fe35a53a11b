import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import type { Erasure } from '../erasing/erase.ts';
import { countEvents, deliveriesOf } from '../test/deliveries.ts';
import {
  givenDeliveries,
  givenSubscription,
  givenWorkspace,
  jobsOf,
  useService,
} from '../test/given.ts';
import { erasePerson } from './erase-person.ts';

const given = useService();
/** As in the payloads of given deliveries. */
const email = 'a@example.com';

async function givenErasure() {
  const workspaceId = givenWorkspace();
  const { id: subscriptionId } = await givenSubscription(given, workspaceId);
  const at = (minutes: number) => new Date(given.clock.now.getTime() + minutes * 60_000);
  await givenDeliveries(given, workspaceId, [
    { subscriptionId, status: 'delivered', createdAt: at(-10), eventType: 'done' },
    { subscriptionId, status: 'failed', createdAt: at(-10), eventType: 'failed' },
    { subscriptionId, createdAt: at(-1), eventType: 'pending' },
    { subscriptionId, createdAt: at(60), eventType: 'later' },
    { subscriptionId, createdAt: at(60), eventType: 'later' },
  ]);
  const erasure = { workspaceId, email, sinceMs: given.clock.now.getTime() };
  const left = async () => {
    const rows = await query<{ event_type: string }>(
      given.context.store.fork(),
      'select event_type from deliveries where workspace_id = $1 order by 1',
      [workspaceId],
    );
    return rows.map(({ event_type: type }) => type);
  };
  const after = (hours: number) => {
    const context = { ...given.context, now: () => at(hours * 60) };
    return erasePerson(context)(erasure);
  };
  const isQueued = async () =>
    (await jobsOf(given, 'erasePerson')).some(
      (job) => (job as { workspaceId: string }).workspaceId === workspaceId,
    );
  return { workspaceId, subscriptionId, left, after, isQueued };
}

test('deliveries about a deleted contact go once they are done, and after a day in any case; later ones stay', async () => {
  const { left, after, isQueued } = await givenErasure();
  await after(0);
  expect(await left()).toEqual(['later', 'later', 'pending']);
  expect(await isQueued()).toBe(true);
  await after(23);
  expect(await left()).toEqual(['later', 'later', 'pending']);
  await after(24);
  expect(await left()).toEqual(['later', 'later']);
});

test('an erasure ends after a week, when no event of before can come any more', async () => {
  const { workspaceId, left, after, isQueued } = await givenErasure();
  await query(
    given.context.store.fork(),
    `update deliveries set status = 'delivered' where workspace_id = $1 and event_type = 'pending'`,
    [workspaceId],
  );
  await after(1);
  expect(await left()).toEqual(['later', 'later']);
  expect(await isQueued()).toBe(true);
  await query(given.context.store.fork(), 'delete from webhooks_jobs._private_jobs', []);
  await after(7 * 24);
  expect(await isQueued()).toBe(false);
});

test('a deletion queues it, also where nobody listens to deletions', async () => {
  const workspaceId = givenWorkspace();
  await givenSubscription(given, workspaceId, { eventTypes: ['list.subscribed'] });
  const contact = { contact: { email: 'gone@example.com' } };
  const event = { type: 'contact.deleted', dataJson: JSON.stringify(contact) };
  for (const batchId of [crypto.randomUUID(), crypto.randomUUID()]) {
    await given.events.consumeEvents({ workspaceId, batchId, events: [event] });
  }
  const jobs = (await jobsOf(given, 'erasePerson')) as { workspaceId: string; email: string }[];
  expect(jobs.filter((job) => job.workspaceId === workspaceId)).toEqual([
    {
      workspaceId,
      email: 'gone@example.com',
      sinceMs: given.clock.now.getTime(),
      at: '2030-01-01T12:00:00Z',
    },
  ]);
});

async function givenDeletion(email: string) {
  const workspaceId = givenWorkspace();
  const eventTypes = ['contact.created', 'contact.deleted', 'email.sent'];
  await givenSubscription(given, workspaceId, { eventTypes });
  const at = (minutes: number) => new Date(given.clock.now.getTime() + minutes * 60_000);
  const consume = async (type: string, minutes: number, data: object) => {
    const event = {
      ...{ type, dataJson: JSON.stringify(data) },
      occurredAt: timestampFromDate(at(minutes)),
    };
    await given.events.consumeEvents({
      workspaceId,
      batchId: crypto.randomUUID(),
      events: [event],
    });
    await query(
      given.context.store.fork(),
      `update deliveries set status = 'delivered' where workspace_id = $1`,
      [workspaceId],
    );
  };
  await consume('contact.deleted', 0, { contact: { email } });
  const jobs = (await jobsOf(given, 'erasePerson')) as Erasure[];
  const erasure = jobs.find((job) => job.workspaceId === workspaceId);
  const run = (minutes: number) =>
    erasePerson({ ...given.context, now: () => at(minutes) })(erasure);
  const left = async () =>
    (await deliveriesOf(given, workspaceId)).map(({ event_type }) => event_type);
  return { workspaceId, consume, run, left };
}

test('an event of before the deletion goes, however late it comes', async () => {
  const email = 'late@example.com';
  const { workspaceId, consume, run, left } = await givenDeletion(email);
  await run(0);
  await consume('email.sent', -1, { email });
  await run(60);
  expect(await left()).toEqual([]);
  expect(await countEvents(given, workspaceId)).toBe(0);
});

test('deliveries about a contact that came back two minutes later stay', async () => {
  const email = 'back@example.com';
  const { consume, run, left } = await givenDeletion(email);
  await run(0);
  await consume('contact.created', 2, { contact: { email } });
  for (const hours of [1, 2, 25]) await run(hours * 60);
  expect(await left()).toEqual(['contact.created']);
});
