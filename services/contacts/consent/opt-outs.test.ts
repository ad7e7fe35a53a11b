import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import { MembershipStatus } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { givenLists, givenStatus, useService } from '../test/given.ts';

const given = useService();
const email = 'ann@example.com';

/** A contact without any list, in a workspace with three. */
async function givenAnn(): Promise<string> {
  const workspaceId = await givenLists(given, 'news', 'offers', 'public');
  await given.lists.updateList({ workspaceId, id: 'public', name: 'Public', isPublic: true });
  await given.contacts.importContacts({ workspaceId, contacts: [{ email }] });
  return workspaceId;
}

const leaveAll = (workspaceId: string) =>
  given.audience.unsubscribeRecipient({ workspaceId, email });

async function isOut(workspaceId: string): Promise<boolean> {
  const asked = { workspaceId, emails: [email] };
  const { recipients } = await given.audience.resolveRecipients(asked);
  return recipients[0]?.skipReason === 'unsubscribed';
}

async function statuses(workspaceId: string): Promise<Record<string, string>> {
  const rows = await query<{ list_id: string; status: string }>(
    given.context.store.fork(),
    'select list_id, status from memberships where workspace_id = $1 order by list_id',
    [workspaceId],
  );
  return Object.fromEntries(rows.map(({ list_id, status }) => [list_id, status]));
}

test('leaving all mail leaves every list, also removed and pending memberships, but lifts no bounce', async () => {
  const workspaceId = await givenAnn();
  const join = (id: string) =>
    given.contacts.importContacts({ workspaceId, contacts: [{ email }], subscribeToLists: [id] });
  await join('news');
  await givenStatus(given, { workspaceId, email, status: 'pending', removed: true });
  await join('offers');
  await leaveAll(workspaceId);
  await leaveAll(workspaceId);
  expect(await statuses(workspaceId)).toEqual({ news: 'unsubscribed', offers: 'unsubscribed' });
  await givenStatus(given, { workspaceId, email, status: 'bounced' });
  await leaveAll(workspaceId);
  expect(await statuses(workspaceId)).toEqual({ news: 'bounced', offers: 'bounced' });
});

test('an import neither lifts an opt-out nor adds the person to a list', async () => {
  const workspaceId = await givenAnn();
  await leaveAll(workspaceId);
  const contacts = [{ email, firstName: 'Ann' }];
  await given.contacts.importContacts({ workspaceId, contacts, subscribeToLists: ['news'] });
  expect(await statuses(workspaceId)).toEqual({});
  expect(await isOut(workspaceId)).toBe(true);
});

test('lists.subscribe lifts an opt-out', async () => {
  const workspaceId = await givenAnn();
  await leaveAll(workspaceId);
  await given.lists.subscribeContact({ workspaceId, contact: { email }, listIds: ['news'] });
  expect(await statuses(workspaceId)).toEqual({ news: 'active' });
  expect(await isOut(workspaceId)).toBe(false);
});

test('the public form asks for a confirmation, and only that lifts an opt-out', async () => {
  const workspaceId = await givenAnn();
  await leaveAll(workspaceId);
  await given.subscriptions.subscribe({ workspaceId, contact: { email }, listIds: ['public'] });
  expect(await statuses(workspaceId)).toEqual({ public: 'pending' });
  expect(await isOut(workspaceId)).toBe(true);
  await given.subscribers.confirmSubscription({ workspaceId, email, listId: 'public' });
  expect(await statuses(workspaceId)).toEqual({ public: 'active' });
  expect(await isOut(workspaceId)).toBe(false);
});

test('the preference page leaves all mail, and lifts it by choosing a list', async () => {
  const workspaceId = await givenAnn();
  await given.subscribers.updateSubscriber({ workspaceId, email, unsubscribeAll: true });
  expect(await isOut(workspaceId)).toBe(true);
  const { subscriptions } = await given.subscribers.getSubscriber({ workspaceId, email });
  expect(subscriptions.map(({ status }) => status)).toEqual([MembershipStatus.UNSPECIFIED]);
  const chosen = { workspaceId, email, subscribeListIds: ['public'] };
  await given.subscribers.updateSubscriber(chosen);
  expect(await statuses(workspaceId)).toEqual({ public: 'active' });
  expect(await isOut(workspaceId)).toBe(false);
});

test('an opt-out outlives the contact, and a new contact with the address has it', async () => {
  const workspaceId = await givenAnn();
  await leaveAll(workspaceId);
  await given.contacts.deleteContact({ workspaceId, email });
  await given.contacts.importContacts({ workspaceId, contacts: [{ email }] });
  expect(await isOut(workspaceId)).toBe(true);
  const elsewhere = await givenAnn();
  expect(await isOut(elsewhere)).toBe(false);
});

test('an import, or the form, at the same time leaves nobody active who has left all mail', async () => {
  const workspaceId = await givenAnn();
  const people = Array.from({ length: 20 }, (_, at) => `p${at}@example.com`);
  const contacts = people.map((each) => ({ email: each }));
  await given.contacts.importContacts({ workspaceId, contacts });
  const leave = (each: string) => given.audience.unsubscribeRecipient({ workspaceId, email: each });
  const join = (list: string) =>
    given.contacts.importContacts({ workspaceId, contacts, subscribeToLists: [list] });
  await Promise.all([join('news'), ...people.map(leave), join('offers'), join('public')]);
  const { recipients } = await given.audience.resolveRecipients({ workspaceId, emails: people });
  expect(recipients.every(({ skipReason }) => skipReason === 'unsubscribed')).toBe(true);
  for (const listId of ['news', 'offers', 'public']) {
    const { emails } = await given.audience.listAudience({ workspaceId, listId, pageSize: 100 });
    expect(emails).toEqual([]);
  }
});

const anHourAgo = () => timestampFromDate(new Date(Date.now() - 3_600_000));

test('an opt-out that is reported late undoes no return of since, and ends older memberships', async () => {
  const workspaceId = await givenAnn();
  await given.contacts.importContacts({
    workspaceId,
    contacts: [{ email }],
    subscribeToLists: ['news'],
  });
  const leave = (listId: string) =>
    given.audience.unsubscribeRecipient({ workspaceId, email, listId, happenedAt: anHourAgo() });
  await leave('news');
  await leave('');
  expect(await statuses(workspaceId)).toEqual({ news: 'active' });
  expect(await isOut(workspaceId)).toBe(false);
  await query(
    given.context.store.fork(),
    "update memberships set updated_at = now() - interval '2 hours' where workspace_id = $1",
    [workspaceId],
  );
  await leave('');
  expect(await statuses(workspaceId)).toEqual({ news: 'unsubscribed' });
  expect(await isOut(workspaceId)).toBe(true);
});
