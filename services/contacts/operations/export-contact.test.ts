import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { memberWith, userClaims } from '../../../test/setup/service.ts';
import { givenLists, useService } from '../test/given.ts';

const given = useService();
const member = useService(memberWith({ contacts: { read: true } }));
const email = 'ann@example.com';

/** All pages. */
async function exported(workspaceId: string, address = email) {
  const records: { kind: string; data: Record<string, unknown> }[] = [];
  let cursor: string | undefined = '';
  while (cursor !== undefined) {
    const page = await given.contacts.exportContact({ workspaceId, email: address, cursor });
    records.push(...page.records.map(({ kind, data = {} }) => ({ kind, data })));
    cursor = page.nextCursor;
  }
  return records;
}

async function givenAnn(): Promise<string> {
  const workspaceId = await givenLists(given, 'a', 'b');
  const em = given.context.store.fork();
  await given.contacts.upsertContact({ workspaceId, contact: { email, firstName: 'Ann' } });
  const subscribeToLists = ['a', 'b'];
  await given.contacts.importContacts({ workspaceId, contacts: [{ email }], subscribeToLists });
  await given.contactLists.removeContactFromList({ workspaceId, email, listId: 'b' });
  const events = Array.from({ length: 120 }, (_, index) => ({
    email,
    eventName: 'order',
    externalId: `${index}`,
    properties: { index },
    occurredAt: { seconds: BigInt(1_800_000_000 + Math.floor(index / 70)), nanos: 5_000 },
  }));
  await given.customEvents.importCustomEvents({ workspaceId, events: events.slice(0, 50) });
  await given.customEvents.importCustomEvents({ workspaceId, events: events.slice(50, 100) });
  await given.customEvents.importCustomEvents({ workspaceId, events: events.slice(100) });
  await query(em, `insert into opt_outs values ($1, $2, now())`, [workspaceId, email]);
  await query(
    em,
    `insert into segment_members values ($1, 's', $2, 1, now()), ($1, 's', 'other@example.com', 1, now())`,
    [workspaceId, email],
  );
  return workspaceId;
}

test('an export holds every kind of record once, by pages, and of the other services after the own ones', async () => {
  const workspaceId = await givenAnn();
  given.personRecords[email] = [
    { kind: 'message', data: { id: 'm1' } },
    { kind: 'message', data: { id: 'm2' } },
  ];
  const records = await exported(workspaceId);
  delete given.personRecords[email];
  const counts: Record<string, number> = {};
  for (const { kind } of records) counts[kind] = (counts[kind] ?? 0) + 1;
  expect(Object.entries(counts)).toEqual([
    ['contact', 1],
    ['list', 2],
    ['segment', 1],
    ['opt_out', 1],
    ['custom_event', 120],
    ['timeline_entry', expect.any(Number)],
    ['message', 2],
  ]);
  const of = (kind: string) => records.filter((each) => each.kind === kind).map(({ data }) => data);
  expect(of('contact')).toMatchObject([{ email, first_name: 'Ann' }]);
  expect(of('list')).toMatchObject([
    { list_id: 'a', status: 'active', deleted_at: null },
    { list_id: 'b', deleted_at: expect.stringMatching(/^2030-/) },
  ]);
  expect(new Set(of('custom_event').map(({ external_id: id }) => id)).size).toBe(120);
  expect(JSON.stringify(records)).not.toContain('other@example.com');
  expect(JSON.stringify(records)).not.toContain('workspace_id');
});

test('the export of an unknown address is empty, and case does not matter', async () => {
  const workspaceId = await givenLists(given);
  expect(await exported(workspaceId, 'Nobody@Example.com')).toEqual([]);
  await given.contacts.upsertContact({ workspaceId, contact: { email } });
  expect(await exported(workspaceId, ' ANN@example.com')).toHaveLength(1);
});

test.each([
  'x',
  'bm9ib2R5IHg',
  ...[
    'list',
    'custom_event x',
    'custom_event 2030-02-31 x',
    'timeline_entry 0000-01-01T00:00:00.000000Z x',
    'timeline_entry 2030-02-31T00:00:00.000000Z x',
    'list 2030-01-01T00:00:00.000000Z x',
  ].map((text) => Buffer.from(text).toString('base64url')),
])('a cursor that was never given is refused: %s', async (cursor) => {
  await expect(given.contacts.exportContact({ workspaceId: 'w', email, cursor })).rejects.toThrow(
    'invalid cursor',
  );
});

test('an export needs the permission to read the message history', async () => {
  const { contacts } = member.as(userClaims());
  await expect(contacts.exportContact({ workspaceId: 'w', email })).rejects.toThrow(
    'Insufficient permissions: read access to message_history required',
  );
});
