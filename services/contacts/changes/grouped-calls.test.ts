import { ConnectError, createClient } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { MembershipStatus } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { ContactListService } from '#gen/postrider/contacts/v1/lists_pb.ts';
import { createLog } from '#lib/log.ts';
import { query } from '#lib/postgres/query.ts';
import { testTransport } from '../../../test/setup/service.ts';
import { contactsRoutes } from '../service.ts';
import { takeEvents } from '../test/events.ts';
import { givenLists, useService } from '../test/given.ts';
import { untilWaiting } from '../test/until-waiting.ts';

const given = useService();

const addressOf = (place: number) => `p${place}@example.com`;
const places = (count: number) => Array.from({ length: count }, (_, place) => place);
const upsert = (workspaceId: string, email: string, more: object = {}) =>
  given.contacts.upsertContact({ workspaceId, contact: { email, ...more } });
const read = <Row>(text: string, values: unknown[]) =>
  query<Row>(given.context.store.fork(), text, values);

/** How many transactions have written the rows of a workspace that are there. */
async function commitsOf(table: string, workspaceId: string): Promise<number> {
  const [row] = await read<{ count: number }>(
    `select count(distinct xmin::text)::int as count from ${table} where workspace_id = $1`,
    [workspaceId],
  );
  return row?.count ?? 0;
}

/** Holds the row of a contact until `release`; resolves when it has it. */
async function holdContact(workspaceId: string, email: string) {
  const release = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const holding = given.context.store.fork().transactional(async (em) => {
    await query(em, 'select from contacts where workspace_id = $1 and email = $2 for update', [
      ...[workspaceId, email],
    ]);
    held.resolve();
    await release.promise;
  });
  await held.promise;
  return async () => {
    release.resolve();
    await holding;
  };
}

test('contacts that are upserted at the same time share commits, and each call has its answer', async () => {
  const workspaceId = await givenLists(given);
  await upsert(workspaceId, addressOf(0));
  const answers = await Promise.all(
    places(50).map((place) => upsert(workspaceId, addressOf(place))),
  );
  expect(answers.map(({ email, action }) => [email, action])).toEqual(
    places(50).map((place) => [addressOf(place), place === 0 ? 'update' : 'create']),
  );
  expect(await commitsOf('contacts', workspaceId)).toBeLessThan(10);
});

test('calls about one contact are written one after the other, and each is published', async () => {
  const workspaceId = await givenLists(given);
  await takeEvents(given, { consumer: 'webhooks', workspaceId });
  const calls = places(10).map((place) =>
    upsert(workspaceId, addressOf(1), { firstName: `A${place}` }),
  );
  const actions = (await Promise.all(calls)).map(({ action }) => action);
  expect(actions.toSorted()).toEqual(['create', ...Array(9).fill('update')]);
  const events = await takeEvents(given, { consumer: 'webhooks', workspaceId });
  const types = events.map(({ type }) => type);
  expect(types.toSorted()).toEqual(['contact.created', ...Array(9).fill('contact.updated')]);
});

test('calls that clear different fields do not mix', async () => {
  const workspaceId = await givenLists(given);
  const of = (place: number) => [{}, { nullFields: { paths: ['phone'] } }][place % 2] ?? {};
  const all = { firstName: 'Ann', phone: '1' };
  await Promise.all(places(8).map((place) => upsert(workspaceId, addressOf(place), all)));
  await Promise.all(places(8).map((place) => upsert(workspaceId, addressOf(place), of(place))));
  const rows = await read<{ phone: string | null }>(
    'select phone from contacts where workspace_id = $1 order by email',
    [workspaceId],
  );
  expect(rows.map(({ phone }) => phone)).toEqual(places(8).map((place) => ['1', null][place % 2]));
});

test('a call whose values the database refuses spoils no other of its group', async () => {
  const workspaceId = await givenLists(given);
  await read(`alter table contacts add constraint no_bad check (first_name <> 'bad')`, []);
  try {
    const calls = places(12).map((place) =>
      upsert(workspaceId, addressOf(place), { firstName: place === 7 ? 'bad' : 'good' }).then(
        ({ action }) => action,
        (error) => ConnectError.from(error).code,
      ),
    );
    const answers = await Promise.all(calls);
    expect(answers.filter((answer) => answer === 'create')).toHaveLength(11);
    expect(answers[7]).toEqual(expect.any(Number));
  } finally {
    await read('alter table contacts drop constraint no_bad', []);
  }
});

test('a workspace that waits for a lock holds up no other', async () => {
  const slow = await givenLists(given);
  const other = await givenLists(given);
  await upsert(slow, addressOf(1));
  const release = await holdContact(slow, addressOf(1));
  const waiting = upsert(slow, addressOf(1), { firstName: 'Ann' });
  await untilWaiting(given.context);
  expect(await upsert(other, addressOf(1))).toMatchObject({ action: 'create' });
  await release();
  expect(await waiting).toMatchObject({ action: 'update' });
});

test('a group does not end with the call that came first', async () => {
  const workspaceId = await givenLists(given);
  await upsert(workspaceId, addressOf(1));
  const release = await holdContact(workspaceId, addressOf(1));
  const caller = new AbortController();
  const contact = { email: addressOf(1), firstName: 'Ann' };
  const options = { signal: caller.signal };
  const first = given.contacts.upsertContact({ workspaceId, contact }, options);
  await untilWaiting(given.context);
  const second = upsert(workspaceId, addressOf(1), { lastName: 'Lee' });
  caller.abort();
  await expect(first).rejects.toThrow();
  await release();
  await second;
  const { contact: stored } = await given.contacts.getContactByEmail({
    workspaceId,
    email: addressOf(1),
  });
  expect(stored).toMatchObject({ firstName: 'Ann', lastName: 'Lee' });
});

test('subscriptions at the same time share commits, and those to a list that is missing fail alone', async () => {
  const workspaceId = await givenLists(given, 'news');
  const calls = places(30).map((place) =>
    given.lists
      .subscribeContact({
        workspaceId,
        contact: { email: addressOf(place) },
        listIds: [place % 3 === 0 ? 'gone' : 'news'],
      })
      .then(
        () => 'subscribed',
        (error) => ConnectError.from(error).rawMessage,
      ),
  );
  expect(await Promise.all(calls)).toEqual(
    places(30).map((place) => (place % 3 === 0 ? 'list not found: gone' : 'subscribed')),
  );
  const [row] = await read<{ count: number }>(
    'select count(*)::int as count from memberships where workspace_id = $1',
    [workspaceId],
  );
  expect(row?.count).toBe(20);
  expect(await commitsOf('memberships', workspaceId)).toBeLessThan(8);
});

test('events at the same time are answered as they are stored, and published in a few batches', async () => {
  const workspaceId = await givenLists(given);
  await takeEvents(given, { consumer: 'webhooks', workspaceId });
  const upsertEvent = (place: number) =>
    given.customEvents.upsertCustomEvent({
      ...{ workspaceId, email: addressOf(1), eventName: 'order', externalId: `${place}` },
      properties: { place },
    });
  const answers = await Promise.all(places(40).map(upsertEvent));
  expect(answers.map(({ event }) => event?.properties)).toEqual(
    places(40).map((place) => ({ place })),
  );
  expect(await commitsOf('custom_events', workspaceId)).toBeLessThan(10);
  const events = await takeEvents(given, { consumer: 'webhooks', workspaceId });
  expect(events.filter(({ type }) => type === 'custom_event.created')).toHaveLength(40);
});

test('each change of a status has its answer and its entry, also after its group was undone', async () => {
  const workspaceId = await givenLists(given, 'news');
  const contacts = places(12).map((place) => ({ email: addressOf(place) }));
  await given.contacts.importContacts({ workspaceId, contacts, subscribeToLists: ['news'] });
  const recorded: string[][] = [];
  let isRefused = false;
  const audit = {
    store: given.context.store,
    log: createLog('test', 'silent'),
    write: async (_: unknown, entries: readonly { requestId: string }[]) => {
      recorded.push(entries.map(({ requestId }) => requestId));
      // The first group of several is undone.
      if (entries.length === 1 || isRefused) return;
      isRefused = true;
      throw new RangeError('undone');
    },
  };
  const transport = testTransport(contactsRoutes(given.context), { audit });
  const client = createClient(ContactListService, transport());
  const answers = await Promise.all(
    places(14).map((place) =>
      client.updateContactListStatus(
        {
          ...{ workspaceId, listId: 'news', email: addressOf(place) },
          status: MembershipStatus.UNSUBSCRIBED,
        },
        { headers: { 'x-request-id': `request-${place}` } },
      ),
    ),
  );
  expect(answers.map(({ found }) => found)).toEqual(places(14).map((place) => place < 12));
  expect(isRefused).toBe(true);
  const undone = recorded.findIndex(({ length }) => length > 1);
  const kept = recorded.filter((_, index) => index !== undone).flat();
  expect(kept.toSorted()).toEqual(
    places(14)
      .map((place) => `request-${place}`)
      .toSorted(),
  );
  const [row] = await read<{ count: number }>(
    `select count(*)::int as count from memberships where workspace_id = $1 and status = 'unsubscribed'`,
    [workspaceId],
  );
  expect(row?.count).toBe(12);
});
