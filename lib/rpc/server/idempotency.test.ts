import { create, toBinary } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ListService } from '#gen/postrider/contacts/v1/lists_pb.ts';
import type { Claims } from '#lib/keys/keyring.ts';
import { testTransport, userClaims } from '../../../test/setup/service.ts';
import { query } from '../../postgres/query.ts';
import type { Store } from '../../postgres/store.ts';
import { givenStore, things } from '../../test/given.ts';
import { once } from './idempotency.ts';
import { unsortedHash } from './older-answer.ts';

let store: Store;
beforeAll(async () => {
  store = await givenStore();
});
afterAll(() => store.close());

let runs = 0;
/** The operation waits for this before it answers. */
let held: Promise<void> = Promise.resolve();

const transport = testTransport((router) => {
  router.service(ListService, {
    createList: (request, call) =>
      once(store, call, ListService.method.createList, request, async (em) => {
        runs += 1;
        const { id, name } = request;
        await query(em, 'insert into things (name) values ($1)', [`${request.workspaceId} ${id}`]);
        await held;
        if (name === 'bad') throw new ConnectError('a bad name', Code.FailedPrecondition);
        return { list: { id, name: `${name} of run ${runs}` } };
      }),
  });
});

/** Calls with the key; returns whether the answer is a stored one. */
async function call(
  key: string,
  request: { workspaceId?: string; id: string; name?: string },
  caller?: Claims,
) {
  let replayed = false;
  const client = createClient(ListService, transport(caller, { 'idempotency-key': key }));
  const onHeader = (header: Headers) => {
    replayed = header.get('idempotency-replayed') === 'true';
  };
  const { list } = await client.createList(
    { workspaceId: 'w1', name: 'x', ...request },
    { onHeader },
  );
  return { name: list?.name, replayed };
}

const unique = () => `k-${crypto.randomUUID()}`;
const newId = () => crypto.randomUUID().replaceAll('-', '');

test('a repeat gets the first answer and does nothing', async () => {
  const [key, id] = [unique(), newId()];
  const first = await call(key, { id });
  const before = runs;
  expect(await call(key, { id })).toEqual({ name: first.name, replayed: true });
  expect(first.replayed).toBe(false);
  expect(runs).toBe(before);
});

test('a concurrent repeat waits for the first call and gets its answer', async () => {
  const [key, id] = [unique(), newId()];
  const gate = Promise.withResolvers<void>();
  held = gate.promise;
  const before = runs;
  const calls = [1, 2, 3, 4, 5].map(() => call(key, { id }));
  const waiting = async () => {
    const rows = await query<{ n: string }>(
      store.fork(),
      `select count(*) as n from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
      [],
    );
    return Number(rows[0]?.n);
  };
  while ((await waiting()) < 4);
  gate.resolve();
  const answers = await Promise.all(calls);
  held = Promise.resolve();
  expect(new Set(answers.map(({ name }) => name)).size).toBe(1);
  expect(answers.filter(({ replayed }) => replayed)).toHaveLength(4);
  expect(runs).toBe(before + 1);
});

test('a key that was used with another request is refused', async () => {
  const [key, id] = [unique(), newId()];
  await call(key, { id });
  await expect(call(key, { id, name: 'y' })).rejects.toMatchObject({
    code: Code.AlreadyExists,
    rawMessage: 'Idempotency-Key was used with another request',
  });
});

test('a key of another caller is refused, for the same request as well', async () => {
  const [key, id] = [unique(), newId()];
  const [ada, bob] = [userClaims(), userClaims()];
  const first = await call(key, { id }, ada);
  await expect(call(key, { id }, bob)).rejects.toMatchObject({ code: Code.AlreadyExists });
  const again = { ...ada, sessionId: crypto.randomUUID() };
  expect(await call(key, { id }, again)).toEqual({ name: first.name, replayed: true });
});

test('the stored row shows neither the answer nor, by a guess, the request', async () => {
  const [key, id] = [unique(), newId()];
  const { name = '' } = await call(key, { id });
  const [row] = await query<{ answer: Buffer; request_hash: Buffer }>(
    store.fork(),
    'select answer, request_hash from idempotency_keys where key = $1',
    [key],
  );
  expect(row?.answer.includes(name)).toBe(false);
  const { createList } = ListService.method;
  const request = create(createList.input, { workspaceId: 'w1', id, name: 'x' });
  expect(row?.request_hash).not.toEqual(unsortedHash(createList.input, request));
});

test('a key is new again after a day, and stores its new answer', async () => {
  const key = unique();
  const first = await call(key, { id: newId() });
  const age = `update idempotency_keys set created_at = now() - interval '24 hours 1 second' where key = $1`;
  await query(store.fork(), age, [key]);
  const id = newId();
  const second = await call(key, { id });
  expect(second.replayed).toBe(false);
  expect(second.name).not.toBe(first.name);
  expect(await call(key, { id })).toEqual({ name: second.name, replayed: true });
});

test('an operation that fails stores nothing, and its repeat runs', async () => {
  const [key, id] = [unique(), newId()];
  await expect(call(key, { id, name: 'bad' })).rejects.toMatchObject({
    code: Code.FailedPrecondition,
  });
  expect(await things(store)).not.toContain(`w1 ${id}`);
  expect((await call(key, { id, name: 'good' })).replayed).toBe(false);
  expect(await things(store)).toContain(`w1 ${id}`);
});

test('the same key in two workspaces is two keys', async () => {
  const [key, id] = [unique(), newId()];
  await call(key, { workspaceId: 'w1', id });
  expect((await call(key, { workspaceId: 'w2', id })).replayed).toBe(false);
  expect(await things(store)).toEqual(expect.arrayContaining([`w1 ${id}`, `w2 ${id}`]));
});

test('without a key every call runs', async () => {
  expect((await call('', { id: newId() })).replayed).toBe(false);
  const kept = await query(store.fork(), `select 1 from idempotency_keys where key = ''`, []);
  expect(kept).toEqual([]);
});

test.each(['with space', 'x'.repeat(257)])('the key %p is refused', async (key) => {
  const id = newId();
  await expect(call(key, { id })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'Idempotency-Key must be 1 to 256 visible characters',
  });
  expect(await things(store)).not.toContain(`w1 ${id}`);
});

test('a repeat of a request that an older release has stored gets its answer', async () => {
  const [key, id] = [unique(), newId()];
  const { createList } = ListService.method;
  const request = create(createList.input, { workspaceId: 'w1', id, name: 'x' });
  const answer = create(createList.output, { list: { id, name: 'of before' } });
  await query(
    store.fork(),
    'insert into idempotency_keys (workspace_id, rpc, key, request_hash, answer) values ($1, $2, $3, $4, $5)',
    [
      ...['w1', createList.name, key, unsortedHash(createList.input, request)],
      Buffer.from(toBinary(createList.output, answer)),
    ],
  );
  expect(await call(key, { id })).toEqual({ name: 'of before', replayed: true });
  await expect(call(key, { id, name: 'y' })).rejects.toMatchObject({ code: Code.AlreadyExists });
});
