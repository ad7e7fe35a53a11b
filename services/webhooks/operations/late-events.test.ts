import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import { consumersOf } from '#lib/events/contracts.ts';
import { query } from '#lib/postgres/query.ts';
import { eventTypes } from '../input/event-types.ts';
import { erasePerson } from '../tasks/erase-person.ts';
import { deliveriesOf } from '../test/deliveries.ts';
import { givenSubscription, givenWorkspace, jobsOf, useService } from '../test/given.ts';
import { givenListener, sendTypes } from '../test/listeners.ts';

const given = useService();
const hourMs = 3_600_000;
const email = 'ann@example.com';

/** Event types that producers send to webhooks. */
const consumed = ['contacts', 'messages'].flatMap((producer) =>
  consumersOf(producer).flatMap(({ consumer, types }) => (consumer === 'webhooks' ? types : [])),
);

/** Data in which each kind of event has the address. */
const data = { email, contact: { email }, custom_event: { email } };

async function givenConsumer() {
  const workspaceId = givenWorkspace();
  const { id } = await givenSubscription(given, workspaceId, { eventTypes: [...eventTypes] });
  const consume = async (type: string, at: Date) => {
    const event = { type, dataJson: JSON.stringify(data), occurredAt: timestampFromDate(at) };
    const batch = { workspaceId, batchId: crypto.randomUUID(), events: [event] };
    await given.events.consumeEvents(batch);
  };
  return { workspaceId, id, consume };
}

test('the types that producers send are those that subscriptions may list', () => {
  expect(consumed.toSorted()).toEqual([...eventTypes].toSorted());
});

test.each(consumed)(
  '%s that comes an hour late erases nothing newer, and is in order by its time',
  async (type) => {
    const { workspaceId, consume } = await givenConsumer();
    const before = new Date(given.clock.now.getTime() - hourMs);
    await consume('contact.created', given.clock.now);
    await consume(type, before);
    await query(
      given.context.store.fork(),
      `update deliveries set status = 'delivered' where workspace_id = $1`,
      [workspaceId],
    );
    for (const job of (await jobsOf(given, 'erasePerson')) as { workspaceId: string }[]) {
      if (job.workspaceId === workspaceId) await erasePerson(given.context)(job);
    }
    const times = await query<{ event_type: string; occurred_at: string }>(
      given.context.store.fork(),
      `select event_type, occurred_at from deliveries where workspace_id = $1 order by occurred_at`,
      [workspaceId],
    );
    expect(times.at(-1)).toMatchObject({ event_type: 'contact.created' });
    const isErased = type === 'contact.deleted';
    expect(times.map(({ event_type }) => event_type)).toEqual(
      isErased ? ['contact.created'] : [type, 'contact.created'],
    );
  },
);

test.each(consumed)(
  '%s that comes after the subscription was disabled makes no delivery',
  async (type) => {
    const { workspaceId, id, consume } = await givenConsumer();
    await query(
      given.context.store.fork(),
      'update subscriptions set enabled = false where id = $1',
      [id],
    );
    await consume(type, new Date(given.clock.now.getTime() - hourMs));
    expect(await deliveriesOf(given, workspaceId)).toEqual([]);
  },
);

test.each(consumed)('%s that comes after a listener has ended makes no delivery', async (type) => {
  const { workspaceId, consume } = await givenConsumer();
  await query(given.context.store.fork(), 'delete from subscriptions where workspace_id = $1', [
    workspaceId,
  ]);
  const { end } = await givenListener(given, workspaceId, [...eventTypes]);
  await end();
  await consume(type, new Date(given.clock.now.getTime() - hourMs));
  expect(await deliveriesOf(given, workspaceId)).toEqual([]);
});

test('events about a deleted contact wait for a listener, and go once they are taken', async () => {
  const workspaceId = givenWorkspace();
  const { take } = await givenListener(given, workspaceId, [...eventTypes]);
  await sendTypes(given, workspaceId, ['contact.deleted'], data);
  const jobs = (await jobsOf(given, 'erasePerson')) as { workspaceId: string }[];
  const [job] = jobs.filter((each) => each.workspaceId === workspaceId);
  await erasePerson(given.context)(job);
  const [event] = (await take()).events;
  expect(event).toMatchObject({ type: 'contact.deleted' });
  await take([event?.id ?? '']);
  await erasePerson(given.context)(job);
  expect(await deliveriesOf(given, workspaceId)).toEqual([]);
});
