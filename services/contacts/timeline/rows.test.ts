import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { testStore } from '../../../test/setup/database.ts';
import { planOf } from '../../../test/setup/plan.ts';
import { openContactsStore } from '../store.ts';
import { isKind, kindsOf } from './kinds.ts';
import { type TimelineQuery, timelineRowsSql } from './rows.ts';

let store: Store;
beforeAll(async () => {
  store = await testStore(openContactsStore);
  // Ann has one entry of each kind of row, a second apart; other people and workspaces have the
  // same.
  await query(
    store.fork(),
    `with person as (
       select workspace_id, email, timestamptz '2030-01-01 12:00Z' as at
       from unnest('{w,x}'::text[]) as workspace_id,
         unnest('{ann@a.example,bob@a.example,cid@a.example}'::text[]) as email
     ), made as (
       insert into contacts (workspace_id, email, created_at, updated_at) select workspace_id, email, at, at from person
     ), joined as (
       insert into memberships (workspace_id, list_id, email, status, first_status, created_at, updated_at)
       select workspace_id, list_id, email, 'unsubscribed', first, at + seconds * interval '1 second', at
       from person cross join (values ('asked', 'pending', 1), ('news', null, 2)) list (list_id, first, seconds)
     ), entries as (
       insert into timeline_entries (workspace_id, email, created_at, kind, entity_id, changes)
       select workspace_id, email, at + seconds * interval '1 second', kind, entity, '{}'
       from person cross join (values
         ('contact.updated', null, 3), ('list.unsubscribed', 'news', 4), ('list.removed', 'asked', 5),
         ('segment.joined', 'past', 6), ('segment.left', 'past', 7)) entry (kind, entity, seconds)
     ), members as (
       insert into segment_members (workspace_id, segment_id, email, version, matched_at)
       select workspace_id, 'now', email, 1, at + interval '8 seconds' from person
     )
     insert into custom_events (workspace_id, event_name, external_id, email, properties, occurred_at, source, deleted_at,
       created_at, updated_at)
     select workspace_id, name, name || email, email, '{}', at + seconds * interval '1 second', 'api', deleted, at, at
     from person cross join (values
       ('shop.paid', 9, null), ('shop.seen', 10, null), ('read', 11, null), ('gone', 12, now())) event (name, seconds, deleted)`,
    [],
  );
});
afterAll(() => store.close());

type Asked = Partial<Omit<TimelineQuery, 'bind' | 'workspace'>>;

function sqlOf(asked: Asked) {
  const values: unknown[] = ['w'];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const scope = (email: string) => `${email} = 'ann@a.example'`;
  return { sql: timelineRowsSql({ workspace: '$1', kinds: [], scope, ...asked, bind }), values };
}

async function kindsOfAnn(...kinds: string[]): Promise<string[]> {
  const { sql, values } = sqlOf({ kinds });
  const rows = await query<{ kind: string }>(store.fork(), `${sql} order by created_at`, values);
  return rows.map(({ kind }) => kind);
}

const all = [
  'contact.created',
  'list.pending',
  'list.subscribed',
  'contact.updated',
  'list.unsubscribed',
  'list.removed',
  'segment.joined',
  'segment.left',
  'segment.joined',
  'custom_event.shop.paid',
  'custom_event.shop.seen',
  'custom_event.read',
];

test('the rows of a timeline come from the tables that know them, and stay in their workspace', async () => {
  expect(await kindsOfAnn()).toEqual(all);
});

test.each([
  ['contact.created', ['contact.created']],
  ['list.*', all.filter((kind) => kind.startsWith('list.'))],
  ['segment.joined', ['segment.joined', 'segment.joined']],
  ['custom_event.read', ['custom_event.read']],
  ['custom_event.shop.*', ['custom_event.shop.paid', 'custom_event.shop.seen']],
  ['custom_event.*', all.filter((kind) => kind.startsWith('custom_event.'))],
  ['open_email', []],
  ["custom_event.'", []],
])('%s stands for its kinds alone', async (kind, expected) => {
  expect(await kindsOfAnn(kind)).toEqual(expected);
});

test('several kinds are listed together', async () => {
  expect(await kindsOfAnn('custom_event.read', 'list.pending', 'custom_event.shop.*')).toEqual([
    'list.pending',
    'custom_event.shop.paid',
    'custom_event.shop.seen',
    'custom_event.read',
  ]);
});

test('ids are unique for an address', async () => {
  const { sql, values } = sqlOf({});
  const rows = await query<{ id: string }>(store.fork(), sql, values);
  expect(new Set(rows.map(({ id }) => id)).size).toBe(all.length);
});

test.each([
  ['a set', (email: string) => `${email} = any('{ann@a.example,cid@a.example,eve@a.example}')`],
  ['a range', (email: string) => `${email} > 'ann@a.example' and ${email} <= 'cid@a.example'`],
])('entries of %s of addresses are counted within a time', async (_, scope) => {
  const { sql, values } = sqlOf({
    kinds: ['custom_event.*', 'contact.created'],
    scope,
    since: `'2030-01-01 12:00:09Z'`,
    until: `'2030-01-01 12:00:11Z'`,
  });
  const rows = await query<{ email: string; count: number }>(
    store.fork(),
    `select email, count(*)::int as count from (${sql}) entry group by email order by email`,
    values,
  );
  expect(rows.map(({ count }) => count)).toEqual([2, 2]);
});

test('counting events of a range of addresses reads one index and no other table', async () => {
  const { sql } = sqlOf({
    kinds: ['custom_event.*'],
    scope: (email) => `${email} > 'a' and ${email} <= 'b'`,
  });
  const plan = await planOf(
    store,
    `select email, count(*) from (${sql.replace('$1', "'w'")}) entry group by email`,
  );
  expect(plan).toMatch(/custom_events_contact/);
  expect(plan).not.toMatch(/timeline_entries|memberships|contacts_pkey/);
});

test.each(['contact.updated', 'list.*', 'custom_event.a/b-c', 'custom_event.*', 'open_email'])(
  '%s is a kind',
  (kind) => expect(isKind(kind)).toBe(true),
);

test.each(['', '*', '.*', 'contact', 'contact.*x', 'custom_event.', 'custom_event.A', 'lists.*'])(
  '%j is no kind',
  (kind) => expect(isKind(kind)).toBe(false),
);

test('kinds of messages are known by their names', () => {
  expect([...kindsOf(['click_email', 'list.*']).messages]).toEqual(['click_email']);
  expect(kindsOf([]).messages.size).toBe(7);
});
