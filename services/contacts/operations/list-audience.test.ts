import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { userClaims } from '../../../test/setup/service.ts';
import { givenDeletedList, givenLists, givenStatus, useService } from '../test/given.ts';

const given = useService();

const names = ['active', 'bounced', 'complained', 'pending', 'removed', 'unsubscribed'];
const addresses = names.map((name) => `${name}@example.com`);

/** A list with one member of each status, and one who was removed. */
async function givenMembers(): Promise<string> {
  const workspaceId = await givenLists(given, 'news', 'other');
  const contacts = addresses.map((email) => ({ email, firstName: 'Ann' }));
  await given.contacts.importContacts({ workspaceId, contacts, subscribeToLists: ['news'] });
  for (const status of ['bounced', 'complained', 'pending', 'unsubscribed']) {
    await givenStatus(given, { workspaceId, email: `${status}@example.com`, status });
  }
  const removed = { workspaceId, email: 'removed@example.com', status: 'active', removed: true };
  await givenStatus(given, removed);
  return workspaceId;
}

test('listAudience leaves out contacts that may not get mail, and unsubscribed ones unless included', async () => {
  const workspaceId = await givenMembers();
  const request = { workspaceId, listId: 'news', pageSize: 100 };
  const { emails } = await given.audience.listAudience(request);
  expect(emails).toEqual(['active@example.com']);
  const all = await given.audience.listAudience({ ...request, includeUnsubscribed: true });
  expect(all.emails).toEqual(['active@example.com', 'unsubscribed@example.com']);
});

test('listAudience pages by address and returns nobody twice', async () => {
  const workspaceId = await givenLists(given, 'news');
  const contacts = ['~', 'Z', 'a', '_', '0', 'b', 'c'].map((name) => ({
    email: `${name}@a.example`,
  }));
  await given.contacts.importContacts({ workspaceId, contacts, subscribeToLists: ['news'] });
  const pages: string[][] = [];
  let afterEmail = '';
  do {
    const request = { workspaceId, listId: 'news', pageSize: 3, afterEmail };
    const { emails } = await given.audience.listAudience(request);
    pages.push(emails);
    afterEmail = emails.at(-1) ?? '';
  } while (afterEmail !== '');
  expect(pages.map((page) => page.length)).toEqual([3, 3, 1, 0]);
  expect(pages.flat()).toEqual(
    ['0', '_', 'a', 'b', 'c', 'z', '~'].map((name) => `${name}@a.example`),
  );
});

test('listAudience does not find an unknown list', async () => {
  const workspaceId = await givenLists(given);
  await expect(
    given.audience.listAudience({ workspaceId, listId: 'nope', pageSize: 10 }),
  ).rejects.toMatchObject({ code: Code.NotFound, rawMessage: 'List not found' });
});

test('listAudience of several lists returns everybody once, with the first list they are active in', async () => {
  const workspaceId = await givenLists(given, 'a', 'b');
  const add = (lists: string[], ...people: { email: string; timezone?: string }[]) =>
    given.contacts.importContacts({ workspaceId, contacts: people, subscribeToLists: lists });
  await add(['a'], { email: '2@x.example' }, { email: '4@x.example', timezone: 'Asia/Tokyo' });
  await add(['b'], { email: '1@x.example' }, { email: '3@x.example' });
  await add(['a', 'b'], { email: '5@x.example', timezone: 'Europe/Paris' });
  await givenStatus(given, { workspaceId, email: '4@x.example', status: 'unsubscribed' });
  await add(['b'], { email: '4@x.example' });
  const ask = { workspaceId, pageSize: 2, withTimezones: true };
  const found: unknown[] = [];
  for (let afterEmail = ''; ; ) {
    const page = await given.audience.listAudience({
      ...ask,
      listId: 'a',
      furtherListIds: ['b'],
      afterEmail,
    });
    page.emails.forEach((email, at) => {
      found.push([email.slice(0, 1), page.lists[at], page.timezones[at]]);
    });
    if (page.emails.length < 2) break;
    afterEmail = page.emails.at(-1) ?? '';
  }
  expect(found).toEqual([
    ['1', 1, ''],
    ['2', 0, ''],
    ['3', 1, ''],
    ['4', 1, 'Asia/Tokyo'],
    ['5', 0, 'Europe/Paris'],
  ]);
  const one = await given.audience.listAudience({ workspaceId, listId: 'b', pageSize: 9 });
  expect([one.emails.length, one.lists, one.timezones]).toEqual([4, [], []]);
});

test('resolveRecipients answers in the order of the request who may be sent to, and why not', async () => {
  const workspaceId = await givenMembers();
  const emails = ['unknown@example.com', ...addresses.toReversed()];
  const request = { workspaceId, listId: 'news', emails, fields: ['first_name'] };
  const { recipients } = await given.audience.resolveRecipients(request);
  expect(recipients.map(({ skipReason }) => skipReason)).toEqual([
    'removed',
    'unsubscribed',
    'removed',
    'pending',
    'complained',
    'bounced',
    '',
  ]);
  expect(recipients.map(({ valuesJson }) => valuesJson)).toEqual([
    '',
    '',
    '',
    '',
    '',
    '',
    '["Ann"]',
  ]);
  const included = await given.audience.resolveRecipients({
    ...request,
    includeUnsubscribed: true,
  });
  expect(included.recipients[1]).toMatchObject({ skipReason: '', valuesJson: '["Ann"]' });
});

test('a confirmation mail may go to pending members only', async () => {
  const workspaceId = await givenMembers();
  const asked = { workspaceId, listId: 'news', emails: addresses, fields: ['first_name'] };
  const confirmation = { ...asked, forConfirmation: true, includeUnsubscribed: true };
  const { recipients } = await given.audience.resolveRecipients(confirmation);
  expect(recipients.map(({ skipReason }) => skipReason)).toEqual([
    'active',
    'bounced',
    'complained',
    '',
    'removed',
    'unsubscribed',
  ]);
  expect(recipients.map(({ valuesJson }) => valuesJson !== '')).toEqual(
    names.map((name) => name === 'pending'),
  );
});

test('a message by hand may go to anybody without a bounce or complaint, and has values of contacts only', async () => {
  const workspaceId = await givenMembers();
  await given.contacts.importContacts({
    workspaceId,
    contacts: [{ email: 'outside@example.com', firstName: 'Bob' }],
  });
  const emails = [...addresses, 'outside@example.com', 'unknown@example.com'];
  const request = { workspaceId, listId: 'news', emails, fields: ['first_name'], byHand: true };
  const { recipients } = await given.audience.resolveRecipients(request);
  expect(recipients.map(({ skipReason, valuesJson }) => skipReason || valuesJson)).toEqual([
    '["Ann"]',
    'bounced',
    'complained',
    '["Ann"]',
    '["Ann"]',
    '["Ann"]',
    '["Bob"]',
    '',
  ]);
});

test('a deleted list has nobody to send to', async () => {
  const workspaceId = await givenMembers();
  await givenDeletedList(given, { workspaceId, id: 'news' });
  const request = { workspaceId, listId: 'news', emails: addresses };
  const { recipients } = await given.audience.resolveRecipients(request);
  expect(new Set(recipients.map(({ skipReason }) => skipReason))).toEqual(new Set(['removed']));
});

test('resolveRecipients returns values as the public JSON has them', async () => {
  const workspaceId = await givenLists(given, 'news');
  const contact = {
    email: 'a@example.com',
    firstName: `O'Hara "x" \\ ünïcode`,
    customNumber1: 1.5,
    customDatetime1: { seconds: 1_900_000_000n, nanos: 120_000_000 },
    customDatetime2: { seconds: 1_900_000_000n, nanos: 0 },
    customJson1: { a: [1, { b: null }] },
  };
  await given.contacts.importContacts({
    workspaceId,
    contacts: [contact],
    subscribeToLists: ['news'],
  });
  const fields = [
    'custom_json_1',
    'email',
    'first_name',
    'custom_number_1',
    'custom_datetime_1',
    'custom_datetime_2',
    'last_name',
    'no_such_field',
    'workspace_id',
    "email, '); drop table contacts; --",
    'created_at',
  ];
  const { recipients } = await given.audience.resolveRecipients({
    workspaceId,
    listId: 'news',
    emails: ['a@example.com'],
    fields,
  });
  expect(JSON.parse(recipients[0]?.valuesJson ?? '')).toEqual([
    { a: [1, { b: null }] },
    'a@example.com',
    contact.firstName,
    1.5,
    '2030-03-17T17:46:40.120Z',
    '2030-03-17T17:46:40Z',
    null,
    null,
    null,
    null,
    '2030-01-01T12:00:00Z',
  ]);
});

test('unsubscribeRecipient unsubscribes active and pending contacts, and changes no other status', async () => {
  const workspaceId = await givenMembers();
  for (const email of [...addresses, 'unknown@example.com', 'no address']) {
    await given.audience.unsubscribeRecipient({ workspaceId, listId: 'news', email });
  }
  const { recipients } = await given.audience.resolveRecipients({
    workspaceId,
    listId: 'news',
    emails: addresses,
  });
  expect(recipients.map(({ skipReason }) => skipReason)).toEqual([
    'unsubscribed',
    'bounced',
    'complained',
    'unsubscribed',
    'removed',
    'unsubscribed',
  ]);
  const contacts = [{ email: 'removed@example.com' }];
  await given.contacts.importContacts({ workspaceId, contacts, subscribeToLists: ['news'] });
  const request = { workspaceId, listId: 'news', emails: ['removed@example.com'] };
  const after = await given.audience.resolveRecipients(request);
  expect(after.recipients[0]?.skipReason).toBe('removed');
});

test('only other services may read an audience', async () => {
  const { audience } = given.as(userClaims());
  await expect(
    audience.listAudience({ workspaceId: 'w', listId: 'news', pageSize: 1 }),
  ).rejects.toMatchObject({ code: Code.PermissionDenied });
});
