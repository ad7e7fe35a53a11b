import { fromJson } from '@bufbuild/protobuf';
import { TimestampSchema, timestampDate } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import { MembershipStatus } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { takeEvents } from '../test/events.ts';
import { givenLists, givenStatus, useService } from '../test/given.ts';

const given = useService();
const email = 'ann@example.com';

/** A workspace with the list `news`, which welcomes, and `plain`, which does not. */
async function givenWelcome(welcome: { includeImports?: boolean } = {}, list = {}) {
  const workspaceId = await givenLists(given);
  await given.lists.createList({ workspaceId, id: 'plain', name: 'Plain', isPublic: true });
  await given.lists.createList({
    ...{ workspaceId, id: 'news', name: 'News', isPublic: true, ...list },
    welcome: { notificationId: 'hello', delaySeconds: 60, ...welcome },
  });
  return workspaceId;
}

async function welcomes(workspaceId: string) {
  const events = await takeEvents(given, { consumer: 'messages', workspaceId });
  return events.filter(({ type }) => type === 'welcome.due').map(({ data }) => data);
}

const doubleOptIn = { isDoubleOptin: true, doubleOptinTemplate: { id: 'confirm' } };
const member = (workspaceId: string) => ({ workspaceId, email, listId: 'news' });
const form = (workspaceId: string) =>
  given.subscriptions.subscribe({ workspaceId, contact: { email }, listIds: ['news', 'plain'] });
const subscribe = (workspaceId: string) =>
  given.lists.subscribeContact({ workspaceId, contact: { email }, listIds: ['news', 'plain'] });
const importAll = (workspaceId: string) =>
  given.contacts.importContacts({
    ...{ workspaceId, contacts: [{ email }], subscribeToLists: ['news', 'plain'] },
  });

test.each([
  ['lists.subscribe', subscribe],
  ['the form', form],
])('%s makes a welcome due, of the list that has one, once', async (_, join) => {
  const workspaceId = await givenWelcome();
  await join(workspaceId);
  await join(workspaceId);
  expect(await welcomes(workspaceId)).toEqual([
    expect.objectContaining({ email, list_id: 'news', delay_seconds: 60, is_import: false }),
  ]);
});

test('with double opt-in a welcome is due after the confirmation, and no earlier', async () => {
  const workspaceId = await givenWelcome({}, doubleOptIn);
  await form(workspaceId);
  expect(await welcomes(workspaceId)).toEqual([]);
  await given.subscribers.confirmSubscription(member(workspaceId));
  await given.subscribers.confirmSubscription(member(workspaceId));
  expect(await welcomes(workspaceId)).toHaveLength(1);
});

test('a status that is set to active, and a choice on the preference page, make a welcome due', async () => {
  const workspaceId = await givenWelcome();
  await form(workspaceId);
  await welcomes(workspaceId);
  const setStatus = (status: MembershipStatus) =>
    given.contactLists.updateContactListStatus({ ...member(workspaceId), status });
  await setStatus(MembershipStatus.UNSUBSCRIBED);
  expect(await welcomes(workspaceId)).toEqual([]);
  await setStatus(MembershipStatus.ACTIVE);
  await setStatus(MembershipStatus.ACTIVE);
  expect(await welcomes(workspaceId)).toHaveLength(1);
  await setStatus(MembershipStatus.UNSUBSCRIBED);
  await given.subscribers.updateSubscriber({
    ...{ workspaceId, email, subscribeListIds: ['news'] },
  });
  expect(await welcomes(workspaceId)).toHaveLength(1);
});

test('an import makes a welcome due only where the list asks for it', async () => {
  const [quiet, loud] = [await givenWelcome(), await givenWelcome({ includeImports: true })];
  for (const workspaceId of [quiet, loud]) await importAll(workspaceId);
  expect(await welcomes(quiet)).toEqual([]);
  expect(await welcomes(loud)).toEqual([expect.objectContaining({ email, is_import: true })]);
});

test('a contact that is back after it was removed has a welcome due again', async () => {
  const workspaceId = await givenWelcome();
  await subscribe(workspaceId);
  await given.contactLists.removeContactFromList(member(workspaceId));
  await subscribe(workspaceId);
  expect(await welcomes(workspaceId)).toHaveLength(2);
});

test('a list that has lost its welcome makes none due', async () => {
  const workspaceId = await givenWelcome();
  await given.lists.updateList({ workspaceId, id: 'news', name: 'News', isPublic: true });
  await subscribe(workspaceId);
  expect(await welcomes(workspaceId)).toEqual([]);
});

test('a member is resolved only for the period of the membership that is asked about', async () => {
  const workspaceId = await givenWelcome();
  const sinceOf = async () => {
    const [due] = await welcomes(workspaceId);
    return fromJson(TimestampSchema, `${due?.active_since}`);
  };
  const resolve = async (activeSince: Awaited<ReturnType<typeof sinceOf>>[]) => {
    const asked = { workspaceId, listId: 'news', emails: [email], activeSince };
    const { recipients } = await given.audience.resolveRecipients(asked);
    return recipients.map(({ skipReason }) => skipReason);
  };
  await subscribe(workspaceId);
  const first = await sinceOf();
  expect(await resolve([first])).toEqual(['']);
  given.clock.now = new Date(timestampDate(first).getTime() + 60_000);
  await given.contactLists.removeContactFromList(member(workspaceId));
  expect(await resolve([first])).toEqual(['removed']);
  await subscribe(workspaceId);
  expect(await resolve([first])).toEqual(['unsubscribed']);
  expect(await resolve([await sinceOf()])).toEqual(['']);
  expect(await resolve([])).toEqual(['']);
  await givenStatus(given, { workspaceId, email, status: 'bounced' });
  expect(await resolve([first])).toEqual(['bounced']);
});
