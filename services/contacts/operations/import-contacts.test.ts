import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { ContactInputSchema, MembershipStatus } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { memberWith, userClaims } from '../../../test/setup/service.ts';
import { givenLists, givenStatus, useService } from '../test/given.ts';

const given = useService(memberWith({ contacts: { read: true, write: true } }));
const member = userClaims();

type Row = MessageInitShape<typeof ContactInputSchema>;

async function importInto(workspaceId: string, contacts: Row[], subscribeToLists: string[] = []) {
  const answer = await given.contacts.importContacts({ workspaceId, contacts, subscribeToLists });
  return answer.operations.map(({ email, action, error }) => ({ email, action, error }));
}

async function read(workspaceId: string, email: string) {
  const { contact } = await given.contacts.getContactByEmail({ workspaceId, email });
  if (!contact) throw new Error('no contact');
  return contact;
}

async function statusOf(workspaceId: string, email: string) {
  const { contactLists } = await read(workspaceId, email);
  return contactLists.map(({ listId, status }) => [listId, status]);
}

test('import answers every row in order with its own reason and writes the good ones', async () => {
  const workspaceId = await givenLists(given);
  const answers = await importInto(workspaceId, [
    { email: ' Ann@Example.com ', firstName: ' Ann ' },
    { email: '' },
    { email: 'nobody' },
    { email: 'josé@example.com' },
    { email: 'a@example.com', timezone: 'Mars/Base' },
    { email: 'b@example.com', language: 'english please' },
    { email: 'c@example.com', postcode: 'x'.repeat(21) },
    { email: 'd@example.com', customNumber3: Number.NaN },
    { email: 'e@example.com', lastName: 'a\0b' },
    { email: 'f@example.com', customJson1: { deep: ['a\0b'] } },
    { email: 'g@example.com', rowError: 'custom_number_1 must be a number' },
    { email: 'h@example.com', customDatetime1: { seconds: 999_999_999_999n } },
    { email: 'i@example.com', customJson5: { text: 'x'.repeat(65_536) } },
    { email: 'j@example.com', customJson5: { small: Array.from({ length: 300 }, () => -1e-300) } },
    { email: 'zoe@example.com', timezone: 'Europe/Paris', language: 'pt-BR' },
  ]);
  expect(answers.map(({ action, error }) => error ?? action)).toEqual([
    'create',
    'email is required',
    'invalid email format',
    'invalid email format: only ASCII characters are supported before the @',
    'invalid timezone: Mars/Base',
    'invalid language: english please',
    'postcode must be at most 20 characters',
    'custom_number_3 must be a finite number',
    'last_name holds text that can not be stored',
    'custom_json_1 holds text that can not be stored',
    'custom_number_1 must be a number',
    'custom_datetime_1 must lie in the years 1 to 9999',
    'custom_json_5 must be at most 64 KiB',
    'custom_json_5 must be at most 64 KiB',
    'create',
  ]);
  expect(answers[0]?.email).toBe('ann@example.com');
  expect(answers[2]?.email).toBe('nobody');
  expect((await read(workspaceId, 'ann@example.com')).firstName).toBe('Ann');
  expect(await given.contacts.countContacts({ workspaceId })).toMatchObject({ totalContacts: 2 });
});

test('import stores every kind of field as it was given', async () => {
  const workspaceId = await givenLists(given);
  const fields = {
    customString1: `it's "quoted"; drop table contacts; -- \\ % _ ünïcode 🦜`,
    customNumber1: -0.1,
    customNumber2: 1e21,
    customNumber3: 0,
    customDatetime1: { seconds: 1n, nanos: 123_456_000 },
    customDatetime2: timestampFromDate(new Date('0999-12-31T23:59:59Z')),
    customJson1: { a: [1, 'two', null, { b: true }], __proto__x: 1 },
  };
  // A zero has no sign.
  await importInto(workspaceId, [{ email: 'a@example.com', ...fields, customNumber4: -0 }]);
  expect(await read(workspaceId, 'a@example.com')).toMatchObject({ ...fields, customNumber4: 0 });
});

test('import keeps what is absent or null, and the time of creation', async () => {
  const workspaceId = await givenLists(given);
  given.clock.now = new Date('2030-01-01T12:00:00Z');
  await importInto(workspaceId, [{ email: 'a@example.com', firstName: 'Ann', phone: '1' }]);
  given.clock.now = new Date('2030-01-02T12:00:00Z');
  const nullFields = { paths: ['first_name'] };
  const answers = await importInto(workspaceId, [
    { email: 'a@example.com', phone: '2', nullFields },
    { email: 'b@example.com', firstName: 'Bob' },
  ]);
  expect(answers.map(({ action }) => action)).toEqual(['update', 'create']);
  expect(await read(workspaceId, 'a@example.com')).toMatchObject({
    firstName: 'Ann',
    phone: '2',
    createdAt: timestampFromDate(new Date('2030-01-01T12:00:00Z')),
    updatedAt: timestampFromDate(new Date('2030-01-02T12:00:00Z')),
  });
});

test.each([
  [
    'the address only',
    [{ firstName: 'One', lastName: 'Last' }, {}],
    { firstName: 'One', lastName: 'Last' },
  ],
  [
    'another field',
    [{ firstName: 'One' }, { lastName: 'Two' }],
    { firstName: 'One', lastName: 'Two' },
  ],
  ['null', [{ firstName: 'One' }, { nullFields: { paths: ['first_name'] } }], { firstName: 'One' }],
  ['the same field', [{ firstName: 'One' }, { firstName: 'Two' }], { firstName: 'Two' }],
  [
    'a number and JSON, and a third one a phone',
    [{ firstName: 'One' }, { customNumber1: 2, customJson1: { a: 1 } }, { phone: '3' }],
    { firstName: 'One', customNumber1: 2, customJson1: { a: 1 }, phone: '3' },
  ],
])('import merges rows of one address where a later one has %s', async (_, rows, expected) => {
  const workspaceId = await givenLists(given);
  const addresses = ['a@bücher.example', 'A@xn--bcher-kva.example', 'a@BÜCHER.example'];
  const answers = await importInto(
    workspaceId,
    rows.map((row, place) => ({ email: addresses[place] ?? '', ...row })),
  );
  expect(answers.map(({ action }) => action)).toEqual(
    ['create', 'update', 'update'].slice(0, rows.length),
  );
  expect(await read(workspaceId, 'a@bücher.example')).toMatchObject(expected);
});

test('import takes the last row of an address, and publishes one created contact', async () => {
  const workspaceId = await givenLists(given);
  const rows = [
    { email: 'a@example.com', firstName: 'first' },
    { email: 'b@example.com' },
    { email: 'A@EXAMPLE.com', firstName: 'last' },
    { email: 'a@example.com', firstName: 'bad', timezone: 'nowhere' },
  ];
  const answers = await importInto(workspaceId, rows);
  expect(answers.map(({ action }) => action)).toEqual(['create', 'create', 'update', 'error']);
  expect((await read(workspaceId, 'a@example.com')).firstName).toBe('last');
});

test('import treats an international domain and its punycode as one contact', async () => {
  const workspaceId = await givenLists(given);
  await importInto(workspaceId, [{ email: 'a@bücher.example', firstName: 'Ann' }]);
  const [answer] = await importInto(workspaceId, [{ email: 'a@xn--bcher-kva.example' }]);
  expect(answer).toMatchObject({ email: 'a@xn--bcher-kva.example', action: 'update' });
  expect((await read(workspaceId, 'a@BÜCHER.example')).firstName).toBe('Ann');
});

test('import subscribes, but never past an unsubscribe, a bounce or a complaint', async () => {
  const workspaceId = await givenLists(given, 'one', 'two');
  const names = ['a', 'b', 'c', 'd', 'p', 'r', 's'];
  const contacts = names.map((name) => ({ email: `${name}@example.com` }));
  await importInto(workspaceId, contacts, ['one']);
  const set = (name: string, status: string, removed = false) =>
    givenStatus(given, { workspaceId, email: `${name}@example.com`, status, removed });
  await set('b', 'unsubscribed');
  await set('c', 'bounced');
  await set('d', 'complained');
  await set('p', 'pending');
  await set('r', 'active', true);
  await set('s', 'bounced', true);
  await importInto(workspaceId, contacts, ['one', 'two', 'one']);
  const on = async (email: string) => (await statusOf(workspaceId, `${email}@example.com`))[0];
  expect(await on('a')).toEqual(['one', MembershipStatus.ACTIVE]);
  expect(await on('b')).toEqual(['one', MembershipStatus.UNSUBSCRIBED]);
  expect(await on('c')).toEqual(['one', MembershipStatus.BOUNCED]);
  expect(await on('d')).toEqual(['one', MembershipStatus.COMPLAINED]);
  expect(await on('p')).toEqual(['one', MembershipStatus.ACTIVE]);
  expect(await on('r')).toEqual(['one', MembershipStatus.ACTIVE]);
  // Removed after a bounce: it stays removed, and is on the other list only.
  expect(await statusOf(workspaceId, 's@example.com')).toEqual([['two', MembershipStatus.ACTIVE]]);
});

test('import refuses an unknown list as a whole and writes nothing', async () => {
  const workspaceId = await givenLists(given, 'one');
  const contacts = [{ email: 'a@example.com' }];
  await expect(importInto(workspaceId, contacts, ['one', 'nope'])).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'list not found: nope',
  });
  expect(await given.contacts.countContacts({ workspaceId })).toMatchObject({ totalContacts: 0 });
});

test('import into lists needs the permission to write lists', async () => {
  const workspaceId = await givenLists(given, 'one');
  const { contacts } = given.as(member);
  const request = { workspaceId, contacts: [{ email: 'a@example.com' }] };
  await contacts.importContacts(request);
  await expect(
    contacts.importContacts({ ...request, subscribeToLists: ['one'] }),
  ).rejects.toMatchObject({
    code: Code.PermissionDenied,
    rawMessage: 'Insufficient permissions: write access to lists required',
  });
});

test('import refuses no rows and more than 10,000', async () => {
  const workspaceId = await givenLists(given);
  await expect(importInto(workspaceId, [])).rejects.toMatchObject({
    rawMessage: 'contacts array is empty',
  });
  const many = Array.from({ length: 10_001 }, () => create(ContactInputSchema, { email: 'a@b.c' }));
  await expect(importInto(workspaceId, many)).rejects.toMatchObject({
    rawMessage: 'contacts must hold at most 10000 items',
  });
});

test('two concurrent imports with their rows in opposite order both succeed', async () => {
  const workspaceId = await givenLists(given, 'one', 'two');
  for (let round = 0; round < 10; round += 1) {
    // Every round has something to write.
    const contacts = Array.from({ length: 500 }, (_, number) => ({
      email: `u${number}@a.example`,
      firstName: `Round ${round}`,
    }));
    const backwards = contacts.toReversed();
    const answers = await Promise.all([
      importInto(workspaceId, contacts, ['one', 'two']),
      importInto(workspaceId, backwards, ['two', 'one']),
      importInto(workspaceId, contacts, ['two']),
    ]);
    expect(answers.flat().filter(({ action }) => action === 'error')).toEqual([]);
  }
  expect(await given.contacts.countContacts({ workspaceId })).toMatchObject({
    totalContacts: 500,
  });
});

test('workspaces stay apart, though they share addresses and list ids', async () => {
  const [mine, theirs] = [await givenLists(given, 'one'), await givenLists(given, 'one')];
  await importInto(mine, [{ email: 'a@example.com', firstName: 'Mine' }], ['one']);
  await importInto(theirs, [{ email: 'a@example.com', firstName: 'Theirs' }]);
  expect((await read(mine, 'a@example.com')).firstName).toBe('Mine');
  expect((await read(theirs, 'a@example.com')).contactLists).toEqual([]);
  const audience = { listId: 'one', pageSize: 10 };
  const theirPage = await given.audience.listAudience({ workspaceId: theirs, ...audience });
  expect(theirPage.emails).toEqual([]);
  await given.audience.unsubscribeRecipient({
    workspaceId: theirs,
    listId: 'one',
    email: 'a@example.com',
  });
  expect(await statusOf(mine, 'a@example.com')).toEqual([['one', MembershipStatus.ACTIVE]]);
});

const { ACTIVE, UNSUBSCRIBED, BOUNCED, COMPLAINED, PENDING } = MembershipStatus;

test('import keeps who has left elsewhere, and no later row of it makes them active', async () => {
  const workspaceId = await givenLists(given, 'news');
  const left = { unsubscribed: UNSUBSCRIBED, bounced: BOUNCED, complained: COMPLAINED };
  for (const [name, status] of Object.entries(left)) {
    const email = `${name}@example.com`;
    await importInto(workspaceId, [{ email, status }, { email }], ['news']);
    await importInto(workspaceId, [{ email, status: ACTIVE }], ['news']);
    expect(await statusOf(workspaceId, email)).toEqual([['news', status]]);
  }
});

test('import ends an active membership by a row with another status, in any order', async () => {
  const workspaceId = await givenLists(given, 'news');
  const email = 'a@example.com';
  await importInto(workspaceId, [{ email }], ['news']);
  await importInto(workspaceId, [{ email, status: UNSUBSCRIBED }], ['news']);
  expect(await statusOf(workspaceId, email)).toEqual([['news', UNSUBSCRIBED]]);
  const statuses = [ACTIVE, COMPLAINED, UNSUBSCRIBED, BOUNCED, ACTIVE];
  const rows = statuses.map((status) => ({ email: 'b@example.com', status }));
  await importInto(workspaceId, rows, ['news']);
  expect(await statusOf(workspaceId, 'b@example.com')).toEqual([['news', COMPLAINED]]);
});

test('the graver one holds, of a row with a status and a request with another', async () => {
  const workspaceId = await givenLists(given, 'news');
  const contacts = [
    { email: 'a@example.com' },
    { email: 'b@example.com', status: ACTIVE },
    { email: 'c@example.com', status: COMPLAINED },
  ];
  const rest = { workspaceId, subscribeToLists: ['news'], status: BOUNCED };
  await given.contacts.importContacts({ ...rest, contacts });
  expect(await statusOf(workspaceId, 'a@example.com')).toEqual([['news', BOUNCED]]);
  expect(await statusOf(workspaceId, 'b@example.com')).toEqual([['news', BOUNCED]]);
  expect(await statusOf(workspaceId, 'c@example.com')).toEqual([['news', COMPLAINED]]);
  const pending = given.contacts.importContacts({ ...rest, contacts, status: PENDING });
  await expect(pending).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'status must be one of active, unsubscribed, bounced, complained',
  });
});

test('import refuses a row that has left where no list keeps it, or whose status is pending', async () => {
  const workspaceId = await givenLists(given);
  const answers = await importInto(workspaceId, [
    { email: 'a@example.com', status: UNSUBSCRIBED },
    { email: 'b@example.com', status: PENDING },
    { email: 'c@example.com', lists: Array.from({ length: 21 }, () => 'x') },
  ]);
  expect(answers.map(({ error }) => error)).toEqual([
    'status is unsubscribed, and no list is given to keep it',
    'status must be one of active, unsubscribed, bounced, complained',
    'lists must hold at most 20 items',
  ]);
  expect(await given.contacts.countContacts({ workspaceId })).toMatchObject({ totalContacts: 0 });
});

test('import subscribes each row to lists by id and by name, and says which there are not', async () => {
  const workspaceId = await givenLists(given, 'news', 'vip');
  for (const id of ['one', 'two']) {
    await given.lists.createList({ workspaceId, id, name: 'Twins' });
  }
  await given.lists.createList({ workspaceId, id: 'gold', name: 'Gold Club' });
  const { unknownLists } = await given.contacts.importContacts({
    workspaceId,
    contacts: [
      { email: 'a@example.com', lists: ['vip', 'gold club', 'twins', 'x'.repeat(200)] },
      { email: 'b@example.com', lists: ['vip'], status: UNSUBSCRIBED },
      { email: 'c@example.com' },
    ],
    subscribeToLists: ['news'],
  });
  expect(unknownLists?.names).toEqual(['twins', 'x'.repeat(100)]);
  expect(await statusOf(workspaceId, 'a@example.com')).toEqual([
    ['gold', ACTIVE],
    ['news', ACTIVE],
    ['vip', ACTIVE],
  ]);
  expect(await statusOf(workspaceId, 'b@example.com')).toEqual([
    ['news', UNSUBSCRIBED],
    ['vip', UNSUBSCRIBED],
  ]);
  expect(await statusOf(workspaceId, 'c@example.com')).toEqual([['news', ACTIVE]]);
});
