import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { givenLists, useService } from '../test/given.ts';
import { untilWaiting } from '../test/until-waiting.ts';

const given = useService();
const email = 'ann@example.com';
const fields = ['email', 'first_name', 'language'];

const read = async (workspaceId: string) =>
  (await given.contacts.getContactByEmail({ workspaceId, email })).contact;

test('upsertRecipients creates contacts, and gives the wanted fields in the order of the request', async () => {
  const workspaceId = await givenLists(given);
  const contacts = [{ email: ' Ann@Example.com ', firstName: 'Ann' }, { email: 'bob@example.com' }];
  const { recipients } = await given.audience.upsertRecipients({ workspaceId, contacts, fields });
  expect(recipients).toMatchObject([
    { email, valuesJson: '["ann@example.com","Ann",null]', error: '' },
    { email: 'bob@example.com', valuesJson: '["bob@example.com",null,null]', error: '' },
  ]);
});

test('upsertRecipients changes a contact that exists only if the caller may, and clears what is null', async () => {
  const workspaceId = await givenLists(given);
  const ask = (mayChange: boolean, contact: object) =>
    given.audience.upsertRecipients({
      workspaceId,
      contacts: [{ email, ...contact }],
      mayChange,
      fields,
    });
  await ask(false, { firstName: 'Ann', lastName: 'Lee' });
  await ask(false, { firstName: 'Mallory' });
  expect(await read(workspaceId)).toMatchObject({ firstName: 'Ann', lastName: 'Lee' });
  const nullFields = { paths: ['last_name'] };
  const { recipients } = await ask(true, { firstName: 'Anna', nullFields });
  expect(recipients).toMatchObject([{ valuesJson: '["ann@example.com","Anna",null]' }]);
  const contact = await read(workspaceId);
  expect([contact?.firstName, contact?.lastName]).toEqual(['Anna', undefined]);
});

test('upsertRecipients refuses a row by itself, and says why', async () => {
  const workspaceId = await givenLists(given);
  const contacts = [{ email: 'no address' }, { email, timezone: 'Nowhere' }, { email }];
  const { recipients } = await given.audience.upsertRecipients({ workspaceId, contacts, fields });
  expect(recipients.map(({ error }) => error)).toEqual([
    'invalid email format',
    'invalid timezone: Nowhere',
    '',
  ]);
});

test('upsertRecipients gives a contact that is changed by nothing as it is, and every kind of field as it is stored', async () => {
  const workspaceId = await givenLists(given);
  const contact = {
    email,
    firstName: 'Ann',
    customNumber1: 1.5,
    customJson1: { a: [1, null] },
    customDatetime1: { seconds: 1_700_000_000n, nanos: 0 },
  };
  const all = ['first_name', 'custom_number_1', 'custom_json_1', 'custom_datetime_1', 'unknown'];
  for (let times = 0; times < 2; times += 1) {
    const request = { workspaceId, contacts: [contact], mayChange: true, fields: all };
    const { recipients } = await given.audience.upsertRecipients(request);
    expect(JSON.parse(recipients[0]?.valuesJson ?? '')).toEqual([
      'Ann',
      1.5,
      { a: [1, null] },
      '2023-11-14T22:13:20Z',
      null,
    ]);
  }
});

test('upsertRecipients takes rows of one address one after the other, and answers each as it was then', async () => {
  const workspaceId = await givenLists(given);
  const rows = [
    { firstName: 'Ann' },
    {},
    { lastName: 'Lee' },
    { firstName: 'Anna' },
    { firstName: 'Anna' },
    { nullFields: { paths: ['first_name'] } },
  ];
  const { recipients } = await given.audience.upsertRecipients({
    workspaceId,
    contacts: rows.map((row, place) => ({
      email: place === 1 ? 'ANN@example.com' : email,
      ...row,
    })),
    mayChange: true,
    fields: ['first_name', 'last_name'],
  });
  expect(recipients.map(({ valuesJson }) => JSON.parse(valuesJson))).toEqual([
    ['Ann', null],
    ['Ann', null],
    ['Ann', 'Lee'],
    ['Anna', 'Lee'],
    ['Anna', 'Lee'],
    [null, 'Lee'],
  ]);
  const contact = await read(workspaceId);
  expect([contact?.firstName, contact?.lastName]).toEqual([undefined, 'Lee']);
});

test('upsertRecipients takes the first row of a new address where the caller may not change contacts', async () => {
  const workspaceId = await givenLists(given);
  const contacts = [
    { email, firstName: 'Ann' },
    { email, firstName: 'Mallory', lastName: 'Lee' },
  ];
  const { recipients } = await given.audience.upsertRecipients({ workspaceId, contacts, fields });
  expect(recipients.map(({ valuesJson }) => JSON.parse(valuesJson)[1])).toEqual(['Ann', 'Ann']);
  expect((await read(workspaceId))?.lastName).toBeUndefined();
});

test('upsertRecipients waits for no lock of a contact that stays as it is', async () => {
  const workspaceId = await givenLists(given);
  const contacts = [{ email, firstName: 'Ann' }];
  const request = { workspaceId, contacts, mayChange: true, fields };
  const before = await given.audience.upsertRecipients(request);
  await given.context.store.fork().transactional(async (em) => {
    await query(em, 'select from contacts where workspace_id = $1 for update', [workspaceId]);
    const during = await given.audience.upsertRecipients(request);
    expect(during.recipients).toEqual(before.recipients);
  });
});

test.each([
  [
    'creates',
    `insert into contacts (workspace_id, email, first_name, created_at, updated_at)
     values ($1, $2, $3, now(), now())`,
  ],
  ['changes', 'update contacts set first_name = $3 where workspace_id = $1 and email = $2'],
])(
  'upsertRecipients gives a contact as it is after another call %s it the same way meanwhile',
  async (does, text) => {
    const workspaceId = await givenLists(given);
    const ask = (firstName: string) =>
      given.audience.upsertRecipients({
        workspaceId,
        contacts: [{ email, firstName }],
        mayChange: true,
        fields,
      });
    if (does === 'changes') await ask('Ann');
    const asked = await given.context.store.fork().transactional(async (em) => {
      await query(em, text, [workspaceId, email, 'Anna']);
      const waiting = ask('Anna');
      await untilWaiting(given.context);
      return { waiting };
    });
    const { recipients } = await asked.waiting;
    expect(JSON.parse(recipients[0]?.valuesJson ?? '')).toEqual([email, 'Anna', null]);
  },
);
