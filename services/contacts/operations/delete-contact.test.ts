import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { MembershipStatus } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { takeEvents } from '../test/events.ts';
import { givenLists, useService } from '../test/given.ts';

const given = useService();

const email = 'ann@example.com';
const notFound = { code: Code.NotFound, rawMessage: 'Contact not found' };

test('a deleted contact leaves nothing in any table of contacts but its event', async () => {
  const workspaceId = await givenLists(given, 'news', 'tips');
  const contacts = [{ email, firstName: 'Ann' }, { email: 'bob@example.com' }];
  const subscribeToLists = ['news', 'tips'];
  await given.contacts.importContacts({ workspaceId, contacts, subscribeToLists });
  await takeEvents(given, { consumer: 'webhooks', workspaceId });
  const deleted = await given.contacts.deleteContact({ workspaceId, email: ' Ann@Example.com ' });
  expect(deleted.success).toBe(true);
  await expect(given.contacts.getContactByEmail({ workspaceId, email })).rejects.toMatchObject(
    notFound,
  );
  for (const table of ['contacts', 'memberships']) {
    const rows = await query<{ email: string }>(
      given.context.store.fork(),
      `select email from ${table} where workspace_id = $1`,
      [workspaceId],
    );
    expect(new Set(rows.map((row) => row.email))).toEqual(new Set(['bob@example.com']));
  }
  const [toMessages] = await takeEvents(given, { consumer: 'messages', workspaceId });
  const toWebhooks = await takeEvents(given, { consumer: 'webhooks', workspaceId });
  expect(toWebhooks).toEqual([toMessages]);
  expect(toMessages).toMatchObject({
    type: 'contact.deleted',
    data: { contact: { email, first_name: 'Ann', last_name: null } },
  });
});

test('a deleted contact can come back, and nothing of it is restored', async () => {
  const workspaceId = await givenLists(given, 'news');
  const contacts = [{ email, firstName: 'Ann' }];
  await given.contacts.importContacts({ workspaceId, contacts, subscribeToLists: ['news'] });
  await given.contacts.deleteContact({ workspaceId, email });
  await expect(given.contacts.deleteContact({ workspaceId, email })).rejects.toMatchObject(
    notFound,
  );
  const again = await given.contacts.upsertContact({ workspaceId, contact: { email } });
  expect(again.action).toBe('create');
  const { contact } = await given.contacts.getContactByEmail({ workspaceId, email });
  expect(contact).toMatchObject({ contactLists: [] });
  expect(contact?.firstName).toBeUndefined();
});

test('a deleted contact that had left a list or all mail is not subscribed by an import, and no address is kept', async () => {
  const workspaceId = await givenLists(given, 'news', 'tips', 'fine');
  const other = await givenLists(given, 'news');
  const subscribeToLists = ['news', 'tips', 'fine'];
  const import_ = () =>
    given.contacts.importContacts({ workspaceId, contacts: [{ email }], subscribeToLists });
  const states = async () => {
    const { contactLists } = await given.contactLists.listContactListsByContact({
      workspaceId,
      email,
    });
    const isActive = (status: MembershipStatus) => status === MembershipStatus.ACTIVE;
    return contactLists.map(
      ({ listId, status }) => `${listId} ${isActive(status) ? 'active' : status}`,
    );
  };
  await import_();
  const set = (listId: string, status: MembershipStatus) =>
    given.contactLists.updateContactListStatus({ workspaceId, email, listId, status });
  await set('news', MembershipStatus.UNSUBSCRIBED);
  await set('tips', MembershipStatus.BOUNCED);
  await given.contacts.deleteContact({ workspaceId, email });
  const kept = await query(
    given.context.store.fork(),
    'select list_id, status, octet_length(address) as bytes from refusals where workspace_id = $1 order by 1',
    [workspaceId],
  );
  expect(kept).toEqual([
    { list_id: 'news', status: 'unsubscribed', bytes: 32 },
    { list_id: 'tips', status: 'bounced', bytes: 32 },
  ]);
  await given.contacts.importContacts({
    workspaceId: other,
    contacts: [{ email }],
    subscribeToLists: ['news'],
  });
  await import_();
  expect(await states()).toEqual(['fine active']);
  await given.contacts.deleteContact({ workspaceId, email });
  await import_();
  expect(await states()).toEqual(['fine active']);
  await given.lists.subscribeContact({ workspaceId, contact: { email }, listIds: ['news'] });
  expect(await states()).toEqual(['fine active', 'news active']);
  await given.contacts.deleteContact({ workspaceId, email });
  await import_();
  expect(await states()).toEqual(['fine active', 'news active']);
});

test('a contact that has left all mail is remembered without the address, whichever way it comes back', async () => {
  const workspaceId = await givenLists(given);
  const optOuts = async () => {
    const rows = await query<{ email: string }>(
      given.context.store.fork(),
      'select email from opt_outs where workspace_id = $1',
      [workspaceId],
    );
    return rows.map((row) => row.email);
  };
  const ways = [
    () => given.contacts.upsertContact({ workspaceId, contact: { email } }),
    () => given.audience.upsertRecipients({ workspaceId, contacts: [{ email }], fields: [] }),
  ];
  await given.contacts.upsertContact({ workspaceId, contact: { email } });
  await query(given.context.store.fork(), 'insert into opt_outs values ($1, $2, now())', [
    workspaceId,
    email,
  ]);
  for (const comesBack of ways) {
    await given.contacts.deleteContact({ workspaceId, email });
    expect(await optOuts()).toEqual([]);
    await comesBack();
    expect(await optOuts()).toEqual([email]);
  }
});

test('a contact of another workspace is not deleted', async () => {
  const mine = await givenLists(given);
  const theirs = await givenLists(given);
  await given.contacts.upsertContact({ workspaceId: theirs, contact: { email } });
  await expect(given.contacts.deleteContact({ workspaceId: mine, email })).rejects.toMatchObject(
    notFound,
  );
  await given.contacts.getContactByEmail({ workspaceId: theirs, email });
});

test('spec: getByExternalID returns one of the contacts that share it, with contact_lists and contact_segments', async () => {
  const workspaceId = await givenLists(given, 'news');
  const contacts = [1, 2].map((n) => ({ email: `p${n}@example.com`, externalId: 'x-1' }));
  await given.contacts.importContacts({ workspaceId, contacts, subscribeToLists: ['news'] });
  const request = { workspaceId, externalId: 'x-1' };
  const { contact } = await given.contacts.getContactByExternalID(request);
  expect(['p1@example.com', 'p2@example.com']).toContain(contact?.email);
  expect(contact).toMatchObject({
    externalId: 'x-1',
    contactLists: [{ listId: 'news', listName: 'List news' }],
    contactSegments: [],
  });
});

test.each(['x', 'X-1', '%', "' or true --", 'x-1 '])(
  'getByExternalID finds nobody by %j',
  async (externalId) => {
    const workspaceId = await givenLists(given);
    const contact = { email, externalId: 'x-1' };
    await given.contacts.upsertContact({ workspaceId, contact });
    await expect(
      given.contacts.getContactByExternalID({ workspaceId, externalId }),
    ).rejects.toMatchObject(notFound);
  },
);

test('getByExternalID needs an identifier', async () => {
  const workspaceId = await givenLists(given);
  await expect(
    given.contacts.getContactByExternalID({ workspaceId, externalId: '' }),
  ).rejects.toMatchObject({ code: Code.InvalidArgument, rawMessage: 'Missing external ID' });
});

test('a contact with very many events and entries is deleted in portions', async () => {
  const workspaceId = await givenLists(given);
  const em = given.context.store.fork();
  for (const each of [email, 'bob@example.com']) {
    await given.contacts.upsertContact({ workspaceId, contact: { email: each } });
  }
  await query(
    em,
    `insert into custom_events (workspace_id, event_name, external_id, email, properties, occurred_at, source, created_at, updated_at)
     select $1, 'seen', number::text, $2, '{}', now(), 'api', now(), now() from generate_series(1, 12000) number`,
    [workspaceId, email],
  );
  await query(
    em,
    `insert into timeline_entries (workspace_id, email, created_at, kind)
     select $1, $2, now(), 'contact.updated' from generate_series(1, 12000)`,
    [workspaceId, email],
  );
  const countBob = `insert into timeline_entries (workspace_id, email, created_at, kind)
    values ($1, 'bob@example.com', now(), 'contact.updated')`;
  await query(em, countBob, [workspaceId]);
  await query(
    em,
    `create function refuse_many() returns trigger language plpgsql as $$ begin
       if (select count(*) from gone) > 5000 then raise exception 'too many rows'; end if;
       return null;
     end $$;
     create trigger refuse_many after delete on custom_events referencing old table as gone
       for each statement execute function refuse_many();
     create trigger refuse_many after delete on timeline_entries referencing old table as gone
       for each statement execute function refuse_many()`,
    [],
  );
  await given.contacts.deleteContact({ workspaceId, email });
  await query(em, 'drop function refuse_many cascade', []);
  const left = `select email from custom_events where workspace_id = $1
    union all select email from timeline_entries where workspace_id = $1`;
  const emails = await query<{ email: string }>(em, left, [workspaceId]);
  expect(new Set(emails.map((row) => row.email))).toEqual(new Set(['bob@example.com']));
});
