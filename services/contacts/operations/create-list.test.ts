import { Code, ConnectError } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { BadRequestSchema } from '#gen/google/rpc/error_details_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { serviceClaims } from '../../../test/setup/service.ts';
import { givenDeletedList, givenLists, useService } from '../test/given.ts';

const given = useService();

test('create returns the list as get does', async () => {
  const workspaceId = await givenLists(given);
  const fields = {
    id: 'News1',
    name: 'News',
    isPublic: true,
    isDoubleOptin: true,
    description: 'Monthly',
    doubleOptinTemplate: { id: 'confirm-me', version: 2 },
    welcome: { notificationId: 'hello', delaySeconds: 86_400, includeImports: true },
  };
  const { list } = await given.lists.createList({ workspaceId, ...fields });
  expect(list).toMatchObject(fields);
  expect((await given.lists.getList({ workspaceId, id: 'News1' })).list).toEqual(list);
});

test.each(['gone', 'page'])(
  'create and update refuse double opt-in by the template %s, which cannot be mailed',
  async (id) => {
    const workspaceId = await givenLists(given, 'a');
    const optedIn = { workspaceId, name: 'A', isDoubleOptin: true, doubleOptinTemplate: { id } };
    const refused = {
      code: Code.InvalidArgument,
      rawMessage:
        'double opt-in template: invalid template reference: no email template has this id',
    };
    await expect(given.lists.createList({ ...optedIn, id: 'b' })).rejects.toMatchObject(refused);
    await expect(given.lists.updateList({ ...optedIn, id: 'a' })).rejects.toMatchObject(refused);
    const { list } = await given.lists.getList({ workspaceId, id: 'a' });
    expect(list?.isDoubleOptin).toBe(false);
  },
);

const optIn = (id: string, version = 0) => ({
  id: 'a',
  name: 'A',
  doubleOptinTemplate: { id, version },
});

test.each([
  [{ id: '', name: 'A' }, 'id is required'],
  [{ id: 'a-b', name: 'A' }, 'id must be alphanumeric'],
  [{ id: 'a\0', name: 'A' }, 'id must be alphanumeric'],
  [{ id: 'a'.repeat(33), name: 'A' }, 'id length must be between 1 and 32'],
  [{ id: 'a', name: '' }, 'name is required'],
  [{ id: 'a', name: 'x'.repeat(256) }, 'name length must be between 1 and 255'],
  [{ id: 'a', name: 'a\0b' }, 'holds text that can not be stored'],
  [
    { id: 'a', name: 'A', isDoubleOptin: true },
    'double opt-in template is required when is_double_optin is true',
  ],
  [
    optIn('not a template'),
    'double opt-in template: invalid template reference: id must contain only letters, numbers, underscores, and hyphens',
  ],
  [
    optIn('t'.repeat(33)),
    'double opt-in template: invalid template reference: id length must be between 1 and 32',
  ],
])('create refuses %j', async (request, text) => {
  const workspaceId = await givenLists(given);
  await expect(given.lists.createList({ workspaceId, ...request })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: text,
  });
  expect((await given.lists.listLists({ workspaceId })).lists).toEqual([]);
});

test.each([
  [{ notificationId: 'gone' }, 'welcome: no notification has this id', 'welcome.notification_id'],
  [{ notificationId: '' }, 'welcome.notification_id is required', 'welcome.notification_id'],
  ...[-1, 2_592_001].map((delaySeconds) => [
    { notificationId: 'hello', delaySeconds },
    'welcome.delay_seconds must be between 0 and 2592000',
    'welcome.delay_seconds',
  ]),
] as [{ notificationId: string }, string, string][])(
  'create and update refuse the welcome %j',
  async (welcome, text, field) => {
    const workspaceId = await givenLists(given, 'a');
    const request = { workspaceId, name: 'A', welcome };
    const calls = [
      given.lists.createList({ ...request, id: 'b' }),
      given.lists.updateList({ ...request, id: 'a' }),
    ];
    for (const call of calls) {
      const error = ConnectError.from(await call.catch((cause: unknown) => cause));
      expect(error).toMatchObject({ code: Code.InvalidArgument, rawMessage: text });
      const [fault] = error.findDetails(BadRequestSchema);
      expect(fault?.fieldViolations.map((each) => each.field)).toEqual([field]);
    }
    const { list } = await given.lists.getList({ workspaceId, id: 'a' });
    expect(list?.welcome).toBeUndefined();
  },
);

test('the lists that welcome by a notification are found by it, without deleted ones', async () => {
  const workspaceId = await givenLists(given, 'a');
  const welcome = { notificationId: 'hello' };
  for (const id of ['b', 'c', 'd']) {
    await given.lists.createList({ workspaceId, id, name: `List ${id}`, welcome });
  }
  await givenDeletedList(given, { workspaceId, id: 'c' });
  const { audience } = given.as(serviceClaims);
  const ask = async (notificationId: string) =>
    (await audience.listWelcomingLists({ workspaceId, notificationId })).names;
  expect([await ask('hello'), await ask('other')]).toEqual([['List b', 'List d'], []]);
});

test('the welcomes of lists are found by their ids, as they are now', async () => {
  const workspaceId = await givenLists(given, 'a', 'b', 'c');
  const welcome = { notificationId: 'hello' };
  for (const id of ['b', 'c']) {
    await given.lists.updateList({ workspaceId, id, name: `List ${id}`, welcome });
  }
  const { audience } = given.as(serviceClaims);
  const ask = async (ids: string[]) =>
    (await audience.findWelcomes({ workspaceId, listIds: ids })).lists;
  const [b, c] = ['b', 'c'].map((id) => ({ id, name: `List ${id}`, notificationId: 'hello' }));
  expect(await ask(['a', 'b', 'c', 'other'])).toMatchObject([b, c]);
  expect(await ask(['a', 'b'])).toMatchObject([b]);
  await givenDeletedList(given, { workspaceId, id: 'c' });
  await given.lists.updateList({ workspaceId, id: 'b', name: 'List b' });
  expect(await ask(['a', 'b', 'c'])).toEqual([]);
});

test('create refuses an id that is taken, also by a deleted list', async () => {
  const workspaceId = await givenLists(given, 'one', 'two');
  await givenDeletedList(given, { workspaceId, id: 'two' });
  for (const id of ['one', 'two']) {
    await expect(given.lists.createList({ workspaceId, id, name: 'A' })).rejects.toMatchObject({
      code: Code.AlreadyExists,
      rawMessage: 'List already exists',
    });
  }
});

test('create repeats its answer for a repeated Idempotency-Key', async () => {
  const workspaceId = await givenLists(given);
  const { lists } = given.as(serviceClaims, { 'idempotency-key': 'k1' });
  const request = { workspaceId, id: 'one', name: 'One' };
  const [first, second] = await Promise.all([lists.createList(request), lists.createList(request)]);
  expect(second).toEqual(first);
});

test('create refuses the list after the thousandth', async () => {
  const workspaceId = await givenLists(given);
  await query(
    given.context.store.fork(),
    `insert into lists (workspace_id, id, name, is_double_optin, is_public, description, created_at,
       updated_at) select $1, 'l' || number, 'L', false, false, '', now(), now()
     from generate_series(1, 999) as number`,
    [workspaceId],
  );
  const answers = await Promise.allSettled(
    ['x', 'y'].map((id) => given.lists.createList({ workspaceId, id, name: 'A' })),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
});

test('list returns the newest first and no deleted ones', async () => {
  const workspaceId = await givenLists(given, 'one');
  given.clock.now = new Date('2030-01-02T12:00:00Z');
  await given.lists.createList({ workspaceId, id: 'two', name: 'Two' });
  await given.lists.createList({ workspaceId, id: 'gone', name: 'Gone' });
  await givenDeletedList(given, { workspaceId, id: 'gone' });
  const { lists } = await given.lists.listLists({ workspaceId });
  expect(lists.map(({ id }) => id)).toEqual(['two', 'one']);
});

test('get does not find an unknown, a deleted or a foreign list', async () => {
  const workspaceId = await givenLists(given, 'gone');
  await givenLists(given, 'foreign');
  await givenDeletedList(given, { workspaceId, id: 'gone' });
  for (const id of ['unknown', 'gone', 'foreign']) {
    await expect(given.lists.getList({ workspaceId, id })).rejects.toMatchObject({
      code: Code.NotFound,
      rawMessage: 'List not found',
    });
  }
});
