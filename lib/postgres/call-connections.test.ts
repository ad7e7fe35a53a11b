import { Code, createClient } from '@connectrpc/connect';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Client } from 'pg';
import { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import { ContactService } from '#gen/postrider/contacts/v1/contacts_pb.ts';
import { testTransport, userClaims } from '../../test/setup/service.ts';
import { until } from '../../test/stack/until.ts';
import { givenStore, things } from '../test/given.ts';
import { endingStatements, outlivingCall } from './call-connections.ts';
import { query } from './query.ts';
import type { Store } from './store.ts';

let store: Store;
let admin: Client;
/** Reads the activity outside of a transaction, which would see only one state of it. */
let observer: Client;
beforeAll(async () => {
  store = await givenStore();
  admin = new Client({ connectionString: store.url });
  await admin.connect();
  observer = new Client({ connectionString: store.url });
  await observer.connect();
});
afterAll(async () => {
  await Promise.all([admin.end(), observer.end()]);
  await store.close();
});

beforeEach(async () => {
  await admin.query('begin');
  await admin.query('lock table things');
});
afterEach(async () => {
  await admin.query('rollback');
  await admin.query('delete from things');
});

const insert = () =>
  store.fork().transactional((em) => query(em, `insert into things values ('late')`, []));
const transport = testTransport((router) => {
  router.service(ContactService, {
    async countContacts() {
      await insert();
      return {};
    },
    async upsertContact() {
      await insert();
      return {};
    },
    async getContactByEmail() {
      await store.read('select 1', []);
      return {};
    },
  });
  router.service(AudienceService, {
    async listAudience() {
      await insert();
      return {};
    },
  });
});
const contacts = createClient(ContactService, transport());
const count = (options: object) => contacts.countContacts({ workspaceId: 'w1' }, options);

const waiting = async () => {
  const where = `datname = current_database() and wait_event_type = 'Lock'`;
  return (await observer.query(`select 1 from pg_stat_activity where ${where}`)).rowCount;
};
const untilWaiting = (statements: number) =>
  until(`${statements} statements wait`, async () => (await waiting()) === statements);

test('a call past its deadline is DeadlineExceeded, and its statement ends', async () => {
  const late = expect(count({ timeoutMs: 1_000 })).rejects.toMatchObject({
    code: Code.DeadlineExceeded,
  });
  await untilWaiting(1);
  await late;
  await untilWaiting(0);
});

test('a cancelled call is Canceled, its statement ends, and its changes are rolled back', async () => {
  const leave = new AbortController();
  const left = expect(count({ signal: leave.signal })).rejects.toMatchObject({
    code: Code.Canceled,
  });
  await untilWaiting(1);
  leave.abort();
  await left;
  await untilWaiting(0);
  await admin.query('commit');
  expect(await things(store)).toEqual([]);
});

test('a store works on after more calls past their deadline than it has connections', async () => {
  const calls = Array.from({ length: 25 }, () => count({ timeoutMs: 300 }));
  for (const { status } of await Promise.allSettled(calls)) expect(status).toBe('rejected');
  await untilWaiting(0);
  await admin.query('commit');
  await expect(count({})).resolves.toBeDefined();
});

test('a call between services continues when its caller disconnects', async () => {
  const leave = new AbortController();
  const request = { workspaceId: 'w1', listId: 'l1', pageSize: 10 };
  const asked = createClient(AudienceService, transport()).listAudience(request, {
    signal: leave.signal,
  });
  const left = expect(asked).rejects.toMatchObject({ code: Code.Canceled });
  await untilWaiting(1);
  leave.abort();
  await left;
  await admin.query('commit');
  await until('it is done', async () => (await things(store)).includes('late'));
});

/** Calls of a user, whose workspace shares the connections with others. */
const user = createClient(ContactService, transport(userClaims()));

test.each(['heavy reads', 'writes'])(
  'a workspace whose %s never end leaves connections to others, and its own further calls are refused',
  async (what) => {
    const leave = new AbortController();
    const options = { signal: leave.signal };
    const codes: unknown[] = [];
    const asked = Array.from({ length: 150 }, async () => {
      const request = { workspaceId: 'greedy', contact: { email: 'a@example.com' } };
      const call =
        what === 'writes'
          ? user.upsertContact(request, options)
          : user.countContacts(request, options);
      await call.catch((error) => codes.push(error.code));
    });
    const connections = what === 'writes' ? 6 : 2;
    await untilWaiting(connections);
    await until('the others are refused', async () => codes.length === 150 - connections - 64);
    expect(new Set(codes)).toEqual(new Set([Code.ResourceExhausted]));
    const request = { workspaceId: 'other', email: 'a@example.com' };
    await Promise.all(Array.from({ length: 50 }, () => user.getContactByEmail(request)));
    expect(await waiting()).toBe(connections);
    leave.abort();
    await Promise.all(asked);
    await untilWaiting(0);
  },
);

test('work that a call leaves behind gets its connection after the answer, and keeps it', async () => {
  const call = new AbortController();
  const gate = Promise.withResolvers<void>();
  // Every open connection is in use, so that the call is over before it has got another.
  const busy = Array.from({ length: 5 }, () => store.fork().transactional(() => gate.promise));
  const run = async () => {
    const left = store.read('select 1 as one', []);
    // As far as asking for a connection.
    await new Promise(setImmediate);
    return [left] as const;
  };
  const [left] = await endingStatements({ signal: call.signal, tenant: 'w1' }, run);
  // As the server does once it has answered.
  call.abort();
  expect(await left).toEqual([{ one: 1 }]);
  gate.resolve();
  await Promise.all(busy);
});

test('work that outlives its calls ends where its database does not answer, and the next goes on', async () => {
  const work = outlivingCall(insert, { maxMs: 300 });
  await expect(work).rejects.toThrow();
  await untilWaiting(0);
  await admin.query('commit');
  await outlivingCall(insert);
  expect(await things(store)).toEqual(['late']);
});

test('work that outlives its calls ends where its database does not answer, and the next goes on', async () => {
  await expect(outlivingCall(insert, { maxMs: 300 })).rejects.toThrow();
  await untilWaiting(0);
  await admin.query('commit');
  await outlivingCall(insert);
  expect(await things(store)).toEqual(['late']);
});
