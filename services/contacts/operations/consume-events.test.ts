import { expect, test } from '@jest/globals';
import { givenLists, givenStatus, useService } from '../test/given.ts';

const given = useService();

async function givenMember(email: string): Promise<string> {
  const workspaceId = await givenLists(given, 'one', 'two');
  const contacts = [{ email }];
  await given.contacts.importContacts({ workspaceId, contacts, subscribeToLists: ['one', 'two'] });
  return workspaceId;
}

async function reasons(workspaceId: string, email: string): Promise<(string | undefined)[]> {
  const answers = await Promise.all(
    ['one', 'two'].map((listId) =>
      given.audience.resolveRecipients({ workspaceId, listId, emails: [email] }),
    ),
  );
  return answers.map(({ recipients }) => recipients[0]?.skipReason);
}

type Data = { email: string; list_id?: string };

async function tell(workspaceId: string, type: string, data: Data, batchId = crypto.randomUUID()) {
  await given.events.consumeEvents({
    workspaceId,
    batchId,
    events: [{ type, dataJson: JSON.stringify(data) }],
  });
}

test('a bounce applies to every list of the address', async () => {
  const workspaceId = await givenMember('a@example.com');
  await tell(workspaceId, 'email.bounced', { email: 'A@example.com', list_id: 'one' });
  expect(await reasons(workspaceId, 'a@example.com')).toEqual(['bounced', 'bounced']);
});

test('a complaint applies to the list that it names', async () => {
  const workspaceId = await givenMember('a@example.com');
  await tell(workspaceId, 'email.complained', { email: 'a@example.com', list_id: 'two' });
  expect(await reasons(workspaceId, 'a@example.com')).toEqual(['', 'complained']);
});

test('a complaint without a list applies to all lists', async () => {
  const workspaceId = await givenMember('a@example.com');
  await tell(workspaceId, 'email.complained', { email: 'a@example.com' });
  expect(await reasons(workspaceId, 'a@example.com')).toEqual(['complained', 'complained']);
});

test('a bounce does not lift a complaint', async () => {
  const workspaceId = await givenMember('a@example.com');
  await tell(workspaceId, 'email.complained', { email: 'a@example.com', list_id: 'one' });
  await tell(workspaceId, 'email.bounced', { email: 'a@example.com' });
  expect(await reasons(workspaceId, 'a@example.com')).toEqual(['complained', 'bounced']);
});

test('a bounce in one workspace does not apply to another', async () => {
  const mine = await givenMember('a@example.com');
  const theirs = await givenMember('a@example.com');
  await tell(mine, 'email.bounced', { email: 'a@example.com' });
  expect(await reasons(theirs, 'a@example.com')).toEqual(['', '']);
});

test('a repeated batch is applied once', async () => {
  const workspaceId = await givenMember('a@example.com');
  const batchId = crypto.randomUUID();
  await tell(workspaceId, 'email.bounced', { email: 'a@example.com' }, batchId);
  await givenStatus(given, { workspaceId, email: 'a@example.com', status: 'active' });
  await tell(workspaceId, 'email.bounced', { email: 'a@example.com' }, batchId);
  expect(await reasons(workspaceId, 'a@example.com')).toEqual(['', '']);
});

test('events of other types and without an address change nothing', async () => {
  const workspaceId = await givenMember('a@example.com');
  await tell(workspaceId, 'email.opened', { email: 'a@example.com' });
  await tell(workspaceId, 'email.bounced', { email: '' });
  expect(await reasons(workspaceId, 'a@example.com')).toEqual(['', '']);
});

test('bounces and a concurrent import of the same addresses do not deadlock', async () => {
  const workspaceId = await givenLists(given, 'one', 'two');
  const contacts = Array.from({ length: 500 }, (_, number) => ({ email: `u${number}@a.example` }));
  const subscribeToLists = ['one', 'two'];
  await given.contacts.importContacts({ workspaceId, contacts, subscribeToLists });
  const events = contacts
    .toReversed()
    .map((data) => ({ type: 'email.bounced', dataJson: JSON.stringify(data) }));
  const batchId = crypto.randomUUID();
  await Promise.all([
    given.events.consumeEvents({ workspaceId, batchId, events }),
    given.contacts.importContacts({ workspaceId, contacts, subscribeToLists }),
  ]);
  const request = { workspaceId, listId: 'two', pageSize: 1_000 };
  expect((await given.audience.listAudience(request)).emails).toEqual([]);
});
