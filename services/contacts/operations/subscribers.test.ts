import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import {
  MembershipStatus,
  MembershipStatusSchema,
} from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { userClaims } from '../../../test/setup/service.ts';
import { takeEvents } from '../test/events.ts';
import { givenDeletedList, givenLists, givenStatus, useService } from '../test/given.ts';

const given = useService();

const email = 'ann@example.com';

/**
 * A contact on the private list `own`; `news` and `tips` are public, `secret` and `gone` are not to
 * be seen.
 */
async function givenSubscriber(): Promise<string> {
  const workspaceId = await givenLists(given, 'own', 'secret');
  for (const id of ['tips', 'news', 'gone']) {
    await given.lists.createList({ workspaceId, id, name: `List ${id}`, isPublic: true });
  }
  await givenDeletedList(given, { workspaceId, id: 'gone' });
  const contacts = [{ email, language: 'fr', timezone: 'Europe/Paris' }];
  await given.contacts.importContacts({ workspaceId, contacts, subscribeToLists: ['own'] });
  await takeEvents(given, { consumer: 'webhooks', workspaceId });
  return workspaceId;
}

async function statusesOf(workspaceId: string): Promise<Record<string, string | undefined>> {
  const { subscriptions } = await given.subscribers.getSubscriber({ workspaceId, email });
  return Object.fromEntries(
    subscriptions.map(({ listId, status }) => [
      listId,
      MembershipStatusSchema.value[status]?.localName,
    ]),
  );
}

async function takenEvents(workspaceId: string): Promise<unknown[]> {
  const events = await takeEvents(given, { consumer: 'webhooks', workspaceId });
  return events.map(({ type, data }) => [type, data.list_id ?? null]);
}

test('a person sees public lists and those they are on, by name', async () => {
  const workspaceId = await givenSubscriber();
  const answer = await given.subscribers.getSubscriber({ workspaceId, email });
  expect(answer).toMatchObject({ language: 'fr', timezone: 'Europe/Paris' });
  expect(answer.subscriptions).toMatchObject([
    { listId: 'news', listName: 'List news', status: MembershipStatus.UNSPECIFIED },
    { listId: 'own', listName: 'List own', status: MembershipStatus.ACTIVE },
    { listId: 'tips', listName: 'List tips', status: MembershipStatus.UNSPECIFIED },
  ]);
});

test('a person without lists gets an empty answer', async () => {
  const workspaceId = await givenLists(given);
  await given.contacts.upsertContact({ workspaceId, contact: { email } });
  const answer = await given.subscribers.getSubscriber({ workspaceId, email });
  expect(answer).toMatchObject({ language: '', timezone: '', subscriptions: [] });
});

test('an address without a contact is not found', async () => {
  const workspaceId = await givenSubscriber();
  const nobody = { workspaceId, email: 'nobody@example.com' };
  const notFound = { code: Code.NotFound, rawMessage: 'Contact not found' };
  await expect(given.subscribers.getSubscriber(nobody)).rejects.toMatchObject(notFound);
  await expect(
    given.subscribers.updateSubscriber({ ...nobody, unsubscribeAll: true }),
  ).rejects.toMatchObject(notFound);
});

test('a pending membership is confirmed once, and a repeat changes nothing', async () => {
  const workspaceId = await givenSubscriber();
  await givenStatus(given, { workspaceId, email, status: 'pending' });
  await given.subscribers.confirmSubscription({ workspaceId, email, listId: 'own' });
  expect(await statusesOf(workspaceId)).toMatchObject({ own: 'ACTIVE' });
  await given.subscribers.confirmSubscription({ workspaceId, email, listId: 'own' });
  expect(await takenEvents(workspaceId)).toEqual([['list.confirmed', 'own']]);
});

test.each(['unsubscribed', 'bounced', 'complained'])(
  'confirming does not change a membership that is %s',
  async (status) => {
    const workspaceId = await givenSubscriber();
    await givenStatus(given, { workspaceId, email, status });
    await given.subscribers.confirmSubscription({ workspaceId, email, listId: 'own' });
    expect(await statusesOf(workspaceId)).toMatchObject({ own: status.toUpperCase() });
    expect(await takenEvents(workspaceId)).toEqual([]);
  },
);

test('confirming a missing membership creates nothing', async () => {
  const workspaceId = await givenSubscriber();
  await given.subscribers.confirmSubscription({ workspaceId, email, listId: 'news' });
  await given.subscribers.confirmSubscription({ workspaceId, email: 'x@a.example', listId: 'own' });
  expect(await statusesOf(workspaceId)).toMatchObject({ news: 'UNSPECIFIED' });
  expect(await takenEvents(workspaceId)).toEqual([]);
});

test('a person joins, leaves and comes back, and each step is published', async () => {
  const workspaceId = await givenSubscriber();
  const update = (lists: { subscribeListIds?: string[]; unsubscribeListIds?: string[] }) =>
    given.subscribers.updateSubscriber({ workspaceId, email, ...lists });
  await update({ subscribeListIds: ['news'], unsubscribeListIds: ['own'] });
  expect(await statusesOf(workspaceId)).toMatchObject({ news: 'ACTIVE', own: 'UNSUBSCRIBED' });
  expect(await takenEvents(workspaceId)).toEqual([
    ['list.subscribed', 'news'],
    ['list.unsubscribed', 'own'],
  ]);
  await update({ subscribeListIds: ['own'] });
  expect(await statusesOf(workspaceId)).toMatchObject({ own: 'ACTIVE' });
  expect(await takenEvents(workspaceId)).toEqual([['list.resubscribed', 'own']]);
  await update({ subscribeListIds: ['own', 'news'] });
  expect(await takenEvents(workspaceId)).toEqual([]);
});

test('a list that is named both to join and to leave is left', async () => {
  const workspaceId = await givenSubscriber();
  const both = { subscribeListIds: ['news'], unsubscribeListIds: ['news'] };
  await given.subscribers.updateSubscriber({ workspaceId, email, ...both });
  expect(await statusesOf(workspaceId)).toMatchObject({ news: 'UNSUBSCRIBED' });
});

test('leaving all also leaves private lists, and joins nothing', async () => {
  const workspaceId = await givenSubscriber();
  const everywhere = { contacts: [{ email }], subscribeToLists: ['secret', 'tips'] };
  await given.contacts.importContacts({ workspaceId, ...everywhere });
  const all = { unsubscribeAll: true, subscribeListIds: ['news'] };
  await given.subscribers.updateSubscriber({ workspaceId, email, ...all });
  expect(await statusesOf(workspaceId)).toEqual({
    news: 'UNSPECIFIED',
    own: 'UNSUBSCRIBED',
    secret: 'UNSUBSCRIBED',
    tips: 'UNSUBSCRIBED',
  });
});

test.each(['bounced', 'complained'])('no choice lifts a membership that is %s', async (status) => {
  const workspaceId = await givenSubscriber();
  await givenStatus(given, { workspaceId, email, status });
  const choice = { subscribeListIds: ['own'] };
  await given.subscribers.updateSubscriber({ workspaceId, email, ...choice });
  await given.subscribers.updateSubscriber({ workspaceId, email, unsubscribeAll: true });
  expect(await statusesOf(workspaceId)).toMatchObject({ own: status.toUpperCase() });
});

test.each([['secret'], ['gone'], ['nowhere']])(
  'a person cannot join %s, and nothing is written',
  async (listId) => {
    const workspaceId = await givenSubscriber();
    const wish = {
      language: 'de',
      subscribeListIds: ['news', listId],
      unsubscribeListIds: ['own'],
    };
    await expect(
      given.subscribers.updateSubscriber({ workspaceId, email, ...wish }),
    ).rejects.toMatchObject({ code: Code.InvalidArgument, rawMessage: 'list not found' });
    expect(await statusesOf(workspaceId)).toMatchObject({ news: 'UNSPECIFIED', own: 'ACTIVE' });
    expect(await takenEvents(workspaceId)).toEqual([]);
  },
);

test('language and time zone are kept, changed and cleared', async () => {
  const workspaceId = await givenSubscriber();
  const update = async (changes: { language?: string; timezone?: string }) => {
    await given.subscribers.updateSubscriber({ workspaceId, email, ...changes });
    const { language, timezone } = await given.subscribers.getSubscriber({ workspaceId, email });
    return [language, timezone];
  };
  expect(await update({ language: 'de' })).toEqual(['de', 'Europe/Paris']);
  expect(await update({ timezone: 'Asia/Tokyo' })).toEqual(['de', 'Asia/Tokyo']);
  expect(await update({ language: '', timezone: '' })).toEqual(['', '']);
  expect(await takenEvents(workspaceId)).toHaveLength(3);
});

test.each([
  [{ language: 'klingon!' }, 'invalid language: klingon!'],
  [{ timezone: 'Mars/Olympus' }, 'invalid timezone: Mars/Olympus'],
])('a wrong language or zone is refused', async (changes, rawMessage) => {
  const workspaceId = await givenSubscriber();
  await expect(
    given.subscribers.updateSubscriber({ workspaceId, email, ...changes }),
  ).rejects.toMatchObject({ code: Code.InvalidArgument, rawMessage });
});

test('only services may act for a person', async () => {
  const workspaceId = await givenSubscriber();
  const { subscribers } = given.as(userClaims());
  const denied = { code: Code.PermissionDenied };
  const key = { workspaceId, email };
  await expect(subscribers.getSubscriber(key)).rejects.toMatchObject(denied);
  await expect(subscribers.updateSubscriber(key)).rejects.toMatchObject(denied);
  await expect(subscribers.confirmSubscription({ ...key, listId: 'own' })).rejects.toMatchObject(
    denied,
  );
});
