import { Code, ConnectError } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { deliveriesOf, sendEvents, setEndpoint } from '../test/deliveries.ts';
import { givenSubscription, givenWorkspace, useService } from '../test/given.ts';

/** Who is in which list, as contacts would say it, and what was asked. */
const contacts = {
  members: [] as [email: string, listId: string][],
  asked: [] as { emails: string[]; listIds: string[] }[],
  failure: undefined as Error | undefined,
};

const given = useService({
  audience: {
    async matchMembers({ emails = [], listIds = [] }) {
      contacts.asked.push({ emails, listIds });
      if (contacts.failure) throw contacts.failure;
      const members = contacts.members.map(([email, listId]) => ({
        $typeName: 'postrider.contacts.v1.MatchedMember' as const,
        email: emails.indexOf(email),
        list: listIds.indexOf(listId),
      }));
      return {
        $typeName: 'postrider.contacts.v1.MatchMembersResponse',
        members: members.filter(({ email, list }) => email >= 0 && list >= 0),
      };
    },
  },
});

type Filters = {
  eventTypes: string[];
  listIds?: string[];
  segmentIds?: string[];
  customEventFilters?: { goalTypes: string[]; eventNames: string[] };
};

/** Nobody listens at its address: these tests look at rows. */
async function givenListener(filters: Filters, workspaceId = givenWorkspace()) {
  const url = 'http://127.0.0.1:1/';
  const { id } = await givenSubscription(given, workspaceId, { url, ...filters });
  return { workspaceId, id };
}

const payloads = async (workspaceId: string) =>
  (await deliveriesOf(given, workspaceId)).map(({ payload }) => payload);

test('makes a delivery for each subscription that wants the type', async () => {
  const { workspaceId, id } = await givenListener({
    eventTypes: ['contact.created', 'list.removed'],
  });
  const other = await givenListener({ eventTypes: ['contact.created'] }, workspaceId);
  const off = await givenListener({ eventTypes: ['contact.created'] }, workspaceId);
  await setEndpoint(given, off.id, { enabled: false });
  await givenListener({ eventTypes: ['contact.created'] });
  await sendEvents(given, workspaceId, [{ contact: { email: 'a@example.com' } }]);
  await sendEvents(given, workspaceId, [{ email: 'a@example.com' }], { type: 'list.removed' });
  await sendEvents(given, workspaceId, [{ email: 'a@example.com' }], { type: 'list.pending' });
  const rows = await deliveriesOf(given, workspaceId);
  expect(rows.map((row) => `${row.event_type} ${row.subscription_id}`).toSorted()).toEqual(
    [`contact.created ${id}`, `contact.created ${other.id}`, `list.removed ${id}`].toSorted(),
  );
});

test('list and email events are filtered by their list', async () => {
  const eventTypes = ['list.subscribed', 'email.sent'];
  const { workspaceId } = await givenListener({ eventTypes, listIds: ['news'] });
  const events = [{ list_id: 'news' }, { list_id: 'other' }, { list_id: null }, {}];
  for (const type of eventTypes) await sendEvents(given, workspaceId, events, { type });
  expect(await payloads(workspaceId)).toEqual([{ list_id: 'news' }, { list_id: 'news' }]);
  expect(contacts.asked).toEqual([]);
});

test('events of contacts are filtered by the lists that the contact is in, but not its deletion', async () => {
  const eventTypes = ['contact.updated', 'contact.deleted', 'custom_event.created'];
  const { workspaceId } = await givenListener({ eventTypes, listIds: ['news', 'offers'] });
  contacts.members = [['a@example.com', 'offers']];
  const of = (email: string) => ({ contact: { email } });
  const both = [of('a@example.com'), of('b@example.com')];
  await sendEvents(given, workspaceId, both, { type: 'contact.updated' });
  expect(contacts.asked.at(-1)).toEqual({
    emails: ['a@example.com', 'b@example.com'],
    listIds: ['news', 'offers'],
  });
  await sendEvents(given, workspaceId, [of('b@example.com')], { type: 'contact.deleted' });
  const custom = ['a', 'b'].map((name) => ({ custom_event: { email: `${name}@example.com` } }));
  await sendEvents(given, workspaceId, custom, { type: 'custom_event.created' });
  const rows = await deliveriesOf(given, workspaceId);
  expect(new Map(rows.map(({ event_type, payload }) => [event_type, payload]))).toEqual(
    new Map<string, unknown>([
      ['contact.updated', of('a@example.com')],
      ['contact.deleted', of('b@example.com')],
      ['custom_event.created', custom[0]],
    ]),
  );
  expect(rows).toHaveLength(3);
});

test('while contacts is down a batch that needs it is refused as a whole, and may come again', async () => {
  const { workspaceId } = await givenListener({
    eventTypes: ['contact.created'],
    listIds: ['news'],
  });
  await givenListener({ eventTypes: ['contact.created'] }, workspaceId);
  contacts.members = [['a@example.com', 'news']];
  contacts.failure = new ConnectError('down', Code.Unavailable);
  const batchId = crypto.randomUUID();
  const send = () =>
    sendEvents(given, workspaceId, [{ contact: { email: 'a@example.com' } }], { batchId });
  await expect(send()).rejects.toThrow();
  expect(await deliveriesOf(given, workspaceId)).toEqual([]);
  contacts.failure = undefined;
  await send();
  expect(await deliveriesOf(given, workspaceId)).toHaveLength(2);
});

test('segment events are filtered by their segment, and no contact is in one yet', async () => {
  const eventTypes = ['segment.joined', 'contact.created', 'list.subscribed'];
  const { workspaceId } = await givenListener({ eventTypes, segmentIds: ['vip'] });
  const segments = [{ segment_id: 'vip' }, { segment_id: 'other' }];
  await sendEvents(given, workspaceId, segments, { type: 'segment.joined' });
  await sendEvents(given, workspaceId, [{ contact: { email: 'a@example.com' } }]);
  await sendEvents(given, workspaceId, [{ list_id: 'news' }], { type: 'list.subscribed' });
  expect(await payloads(workspaceId)).toEqual([{ segment_id: 'vip' }]);
});

test('custom events pass both filters, in exact case; other types ignore them', async () => {
  const type = 'custom_event.created';
  const customEventFilters = { goalTypes: ['purchase'], eventNames: ['orders/fulfilled'] };
  const { workspaceId } = await givenListener({
    eventTypes: [type, 'contact.created'],
    customEventFilters,
  });
  const event = (event_name: string, goal_type: string | null) => ({
    custom_event: { event_name, goal_type },
  });
  await sendEvents(
    given,
    workspaceId,
    [
      event('orders/fulfilled', 'purchase'),
      event('orders/fulfilled', 'Purchase'),
      event('orders/fulfilled', null),
      event('orders/created', 'purchase'),
    ],
    { type },
  );
  await sendEvents(given, workspaceId, [{ contact: {} }]);
  const found = await payloads(workspaceId);
  expect(found).toHaveLength(2);
  expect(found).toContainEqual(event('orders/fulfilled', 'purchase'));
  expect(found).toContainEqual({ contact: {} });
});

test('a payload over 256 KiB is kept as failed, without the payload', async () => {
  const { workspaceId } = await givenListener({ eventTypes: ['contact.created'] });
  const fits = { text: 'x'.repeat(256 * 1_024 - '{"text":""}'.length) };
  await sendEvents(given, workspaceId, [fits, { text: `${fits.text}y` }]);
  const rows = await deliveriesOf(given, workspaceId);
  expect(rows.find(({ status }) => status === 'failed')).toMatchObject({
    payload: {},
    attempts: 0,
    next_attempt_at: null,
    last_error: 'the payload is larger than 256 KiB',
  });
  expect(rows.find(({ status }) => status === 'pending')?.payload).toEqual(fits);
});
