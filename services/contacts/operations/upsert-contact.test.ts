import { Code, ConnectError } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { BadRequestSchema } from '#gen/google/rpc/error_details_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { givenLists, useService } from '../test/given.ts';

const given = useService();

async function read(workspaceId: string) {
  const request = { workspaceId, email: 'a@example.com' };
  return (await given.contacts.getContactByEmail(request)).contact;
}

test('upsert creates, then changes given fields, clears null ones and keeps absent ones', async () => {
  const workspaceId = await givenLists(given);
  const email = ' A@Example.com';
  const first = { email, firstName: 'Ann', lastName: 'Lee', phone: '1', customNumber1: 0 };
  expect(await given.contacts.upsertContact({ workspaceId, contact: first })).toMatchObject({
    email: 'a@example.com',
    action: 'create',
  });
  const nullFields = { paths: ['first_name', 'custom_number_1', 'no_such_field', 'created_at'] };
  const second = { email, lastName: '', nullFields };
  expect(await given.contacts.upsertContact({ workspaceId, contact: second })).toMatchObject({
    email: 'a@example.com',
    action: 'update',
  });
  const contact = await read(workspaceId);
  expect(contact).toMatchObject({ lastName: '', phone: '1' });
  expect(contact?.firstName).toBeUndefined();
  expect(contact?.customNumber1).toBeUndefined();
  expect(contact?.createdAt).toBeDefined();
});

test('a contact may come back with the abbreviation of a zone that it has had', async () => {
  const workspaceId = await givenLists(given);
  const contact = { email: 'a@example.com', timezone: 'IST', firstName: 'Ann' };
  await given.contacts.upsertContact({ workspaceId, contact });
  expect(await read(workspaceId)).toMatchObject({ timezone: 'IST' });
});

test('upsert names every bad field, with the text of the first, and writes nothing', async () => {
  const workspaceId = await givenLists(given);
  const contact = {
    email: 'a@example.com',
    timezone: 'Mars/Base',
    firstName: 'x'.repeat(256),
    customNumber2: Number.POSITIVE_INFINITY,
    customString5: 'a\0b',
  };
  const failure = await given.contacts
    .upsertContact({ workspaceId, contact })
    .catch((error: unknown) => ConnectError.from(error));
  if (!(failure instanceof ConnectError)) throw new Error('it did not fail');
  expect(failure.code).toBe(Code.InvalidArgument);
  expect(failure.rawMessage).toBe('invalid contact: invalid timezone: Mars/Base');
  const [details] = failure.findDetails(BadRequestSchema);
  expect(details?.fieldViolations.map(({ field }) => field)).toEqual([
    'contact.timezone',
    'contact.first_name',
    'contact.custom_string_5',
    'contact.custom_number_2',
  ]);
  await expect(read(workspaceId)).rejects.toMatchObject({ code: Code.NotFound });
});

const notAscii = 'invalid email format: only ASCII characters are supported before the @';

test.each([
  [{ email: '' }, 'invalid contact: email is required'],
  [{ email: 'a@b, c@d.example' }, 'invalid contact: invalid email format'],
  [{ email: 'a\0@b.example' }, 'invalid contact: invalid email format'],
  [{ email: 'josé@example.com' }, `invalid contact: ${notAscii}`],
  [undefined, 'contact is required'],
])('upsert refuses %j', async (contact, text) => {
  await expect(given.contacts.upsertContact({ workspaceId: 'w', contact })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: text,
  });
});

test('upsert counts characters, not bytes', async () => {
  const workspaceId = await givenLists(given);
  const contact = { email: 'a@example.com', firstName: '🦜'.repeat(255) };
  await given.contacts.upsertContact({ workspaceId, contact });
  expect((await read(workspaceId))?.firstName).toBe(contact.firstName);
});

test('upsert refuses an object that is nested too deep', async () => {
  const workspaceId = await givenLists(given);
  let nested = {};
  for (let depth = 0; depth < 33; depth += 1) nested = { nested };
  const failure = given.contacts.upsertContact({
    workspaceId,
    contact: { email: 'a@example.com', customJson1: nested },
  });
  await expect(failure).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'invalid contact: custom_json_1 must be nested at most 32 levels deep',
  });
});

test('a contact that stays as it is, is not written and waits for no lock', async () => {
  const workspaceId = await givenLists(given);
  const contact = { email: 'ann@example.com', firstName: 'Ann', customJson1: { a: [1] } };
  await given.contacts.upsertContact({ workspaceId, contact });
  await given.context.store.fork().transactional(async (em) => {
    await query(em, 'select from contacts where workspace_id = $1 for update', [workspaceId]);
    const { action } = await given.contacts.upsertContact({ workspaceId, contact });
    expect(action).toBe('update');
  });
});
