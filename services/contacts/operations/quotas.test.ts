import { Code } from '@connectrpc/connect';
import { afterEach, expect, test } from '@jest/globals';
import { reasonOf } from '#lib/errors/reasons.ts';
import type { Resource } from '#lib/quotas/resources.ts';
import { until } from '../../../test/stack/until.ts';
import { givenLists, useService } from '../test/given.ts';

const given = useService();
afterEach(() => {
  for (const resource of Object.keys(given.quotas)) delete given.quotas[resource];
});

const upsert = (workspaceId: string, name: string) =>
  given.contacts.upsertContact({ workspaceId, contact: { email: `${name}@example.com` } });

/** A count that began with a call may have missed what the call wrote. */
const untilRoom = (workspaceId: string, room: number, resource: Resource = 'contacts') =>
  until(`there is room for ${room}`, async () => {
    // Fails while another count of the workspace goes on.
    const count = await given.context.quotas.countNow(workspaceId, resource).catch(() => {});
    return count !== undefined && count.quota - count.used === room;
  });

/** A workspace of ann and bob that may have no more contacts. */
async function givenFull(): Promise<string> {
  const workspaceId = await givenLists(given, 'news');
  given.quotas.contacts = 2n;
  await upsert(workspaceId, 'ann');
  await untilRoom(workspaceId, 1);
  await upsert(workspaceId, 'bob');
  await untilRoom(workspaceId, 0);
  return workspaceId;
}

const text =
  'the workspace has 2 of at most 2 contacts: delete contacts by contacts.delete, or ask the operator for a larger quota';
const refused = { code: Code.ResourceExhausted, rawMessage: text };

test('at the quota of contacts upsertContact refuses a new contact and changes one that exists', async () => {
  const workspaceId = await givenFull();
  const error = await upsert(workspaceId, 'carl').catch((refusal: unknown) => refusal);
  expect(error).toMatchObject(refused);
  expect(reasonOf(error)).toBe('QUOTA_EXCEEDED');
  expect(await upsert(workspaceId, 'ann')).toMatchObject({ action: 'update' });
});

test('a workspace at its quota leaves the others theirs', async () => {
  await givenFull();
  const other = await givenLists(given);
  expect(await upsert(other, 'carl')).toMatchObject({ action: 'create' });
});

test('importContacts fills the last room, refuses the rows behind it and changes those that exist', async () => {
  const workspaceId = await givenLists(given);
  given.quotas.contacts = 3n;
  await upsert(workspaceId, 'ann');
  await untilRoom(workspaceId, 2);
  const names = ['ann', 'bob', 'carl', 'dora'];
  const contacts = names.map((name) => ({ email: `${name}@example.com`, firstName: name }));
  const { operations } = await given.contacts.importContacts({ workspaceId, contacts });
  expect(operations.map(({ action }) => action)).toEqual(['update', 'create', 'create', 'error']);
  expect(operations[3]?.error).toContain('has 3 of at most 3 contacts');
});

test('upsertRecipients refuses only the rows that would be new contacts, so the other mails go out', async () => {
  const workspaceId = await givenFull();
  const contacts = ['carl', 'bob'].map((name) => ({ email: `${name}@example.com` }));
  const { recipients } = await given.audience.upsertRecipients({ workspaceId, contacts });
  expect(recipients).toMatchObject([
    { email: '', error: text, isBeyondQuota: true },
    { email: 'bob@example.com', error: '', isBeyondQuota: false },
  ]);
});

test('a form and a custom event create no contact beyond the quota', async () => {
  const workspaceId = await givenFull();
  const contact = { email: 'carl@example.com' };
  const subscribing = { workspaceId, contact, listIds: ['news'] };
  await expect(given.lists.subscribeContact(subscribing)).rejects.toMatchObject(refused);
  const event = { workspaceId, eventName: 'bought', externalId: '1' };
  const write = (email: string) => given.customEvents.upsertCustomEvent({ ...event, email });
  await expect(write('carl@example.com')).rejects.toMatchObject(refused);
  await write('ann@example.com');
  const { contacts } = await given.contacts.listContacts({ workspaceId });
  expect(contacts.map(({ email }) => email).sort()).toEqual(['ann@example.com', 'bob@example.com']);
});

test('custom events beyond their quota are refused', async () => {
  const workspaceId = await givenLists(given);
  given.quotas.custom_events = 1n;
  const write = (externalId: string) =>
    given.customEvents.upsertCustomEvent({
      workspaceId,
      eventName: 'bought',
      externalId,
      email: 'ann@example.com',
    });
  await write('1');
  await untilRoom(workspaceId, 0, 'custom_events');
  await expect(write('2')).rejects.toMatchObject({
    code: Code.ResourceExhausted,
    rawMessage: expect.stringContaining('has 1 of at most 1 custom events'),
  });
});

test('countUsage counts contacts, lists, segments, custom events and timeline entries', async () => {
  const workspaceId = await givenLists(given, 'news');
  await upsert(workspaceId, 'ann');
  const usage = await given.context.quotas.usage(workspaceId);
  const counted = usage.map(({ resource, used }) => [resource, Number(used)]);
  expect(Object.fromEntries(counted)).toMatchObject({
    contacts: 1,
    lists: 1,
    segments: 0,
    custom_events: 0,
  });
  expect(counted.map(([resource]) => resource)).toEqual([
    'contacts',
    'lists',
    'segments',
    'custom_events',
    'timeline_entries',
  ]);
});
