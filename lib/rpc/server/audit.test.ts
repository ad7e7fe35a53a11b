import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ContactListService, ListService } from '#gen/postrider/contacts/v1/lists_pb.ts';
import { MessageService } from '#gen/postrider/messages/v1/messages_pb.ts';
import { testTransport, userClaims } from '../../../test/setup/service.ts';
import { auditByJob } from '../../jobs/audit.ts';
import { createLog } from '../../log.ts';
import { query } from '../../postgres/query.ts';
import type { Store } from '../../postgres/store.ts';
import { givenStore, service, things } from '../../test/given.ts';
import { type AuditSink, auditedTransaction } from './audit.ts';
import { once } from './idempotency.ts';

let store: Store;
beforeAll(async () => {
  store = await givenStore();
});
afterAll(() => store.close());

let write: AuditSink;
beforeEach(async () => {
  write = auditByJob(service);
  await query(store.fork(), 'delete from shelf_jobs._private_jobs', []);
});

const audit = {
  get store() {
    return store;
  },
  write: ((em, entries) => write(em, entries)) as AuditSink,
  log: createLog('test', 'silent'),
};

const add = 'insert into things (name) values ($1)';
const transport = testTransport(
  (router) => {
    router.service(ListService, {
      createList: (request, call) =>
        once(store, call, ListService.method.createList, request, async (em) => {
          await query(em, add, [request.id]);
          if (request.name === 'bad') throw new ConnectError('bad', Code.FailedPrecondition);
          return {};
        }),
      updateList: (request, call) =>
        auditedTransaction(store, call, async (em) => {
          await query(em, add, [request.id]);
          return {};
        }),
      async deleteList(request) {
        await query(store.fork(), add, [request.id]);
        return {};
      },
      subscribeContact: () => ({}),
    });
    router.service(ContactListService, { listContactListsByList: () => ({}) });
    router.service(MessageService, { exportMessages: () => ({}) });
  },
  { audit },
);

const person = userClaims();
const lists = (headers = {}) => createClient(ListService, transport(person, headers));
const newId = () => crypto.randomUUID().replaceAll('-', '').slice(0, 20);

type Payload = { workspaceId: string; entry: Record<string, string> };
type Job = { entries: Payload[] };

async function jobs(): Promise<Job[]> {
  const rows = await query<{ payload: Job }>(
    store.fork(),
    'select payload from shelf_jobs._private_jobs order by id',
    [],
  );
  return rows.map(({ payload }) => payload);
}

const recorded = async () => (await jobs()).flatMap(({ entries }) => entries);

const create = (id: string, over: object = {}, headers = {}) =>
  lists(headers).createList({ workspaceId: 'w1', id, name: 'x', ...over });

test('a change is recorded with its caller and its target', async () => {
  const id = newId();
  await create(id, {}, { 'x-request-id': 'request-1' });
  const [payload, ...rest] = await recorded();
  expect(rest).toEqual([]);
  expect(payload).toMatchObject({
    workspaceId: 'w1',
    entry: {
      actorType: 'user',
      actorId: person.subject,
      action: 'lists.create',
      targetId: id,
      requestId: 'request-1',
    },
  });
});

test('a change whose entry cannot be written is not made', async () => {
  write = async () => {
    throw new Error('no room');
  };
  const [created, updated] = [newId(), newId()];
  await expect(create(created)).rejects.toThrow();
  await expect(lists().updateList({ workspaceId: 'w1', id: updated, name: 'x' })).rejects.toThrow();
  const all = await things(store);
  expect(all).not.toContain(created);
  expect(all).not.toContain(updated);
});

test('an operation that does not record its change itself is recorded after its success', async () => {
  const id = newId();
  let failures = 2;
  write = async (em, entries) => {
    failures -= 1;
    if (failures >= 0) throw new Error('down');
    await auditByJob(service)(em, entries);
  };
  await lists().deleteList({ workspaceId: 'w1', id });
  for (;;) {
    const [payload] = await recorded();
    if (payload) {
      expect(payload.entry).toMatchObject({ action: 'lists.delete', targetId: id });
      return;
    }
  }
});

test("failures, repeats and changes that are not an administrator's are not recorded", async () => {
  await expect(create(newId(), { name: 'bad' })).rejects.toThrow('bad');
  await expect(create(newId(), { name: '' })).rejects.toThrow();
  await lists().subscribeContact({
    workspaceId: 'w1',
    contact: { email: 'a@example.com' },
    listIds: ['x'],
  });
  expect(await recorded()).toEqual([]);
  const [key, id] = [`k-${crypto.randomUUID()}`, newId()];
  await create(id, {}, { 'idempotency-key': key });
  await create(id, {}, { 'idempotency-key': key });
  expect(await recorded()).toHaveLength(1);
});

test('an export is recorded once, not for each page', async () => {
  const messages = createClient(MessageService, transport(person));
  await messages.exportMessages({ workspaceId: 'w1' });
  await messages.exportMessages({ workspaceId: 'w1', cursor: 'next' });
  expect((await recorded()).map(({ entry }) => entry.action)).toEqual(['messages.export']);
});

test('pages behind the first of a list of people are recorded, once an hour for a caller and a list', async () => {
  const clientOf = (claims: typeof person) => createClient(ContactListService, transport(claims));
  const mine = clientOf(person);
  const page = (cursor: string, listId = 'weekly', client = mine) =>
    client.listContactListsByList({ workspaceId: 'w1', listId, cursor });
  await page('');
  expect(await recorded()).toEqual([]);
  for (const cursor of ['a', 'b', 'c']) await page(cursor);
  await page('a', 'daily');
  await page('a', 'weekly', clientOf(userClaims()));
  const entries = (await recorded()).map(({ entry }) => entry);
  expect(entries).toMatchObject([
    { action: 'contactLists.getContactsByList', targetId: 'weekly', actorId: person.subject },
    { targetId: 'daily' },
    { targetId: 'weekly' },
  ]);
  expect(new Set(entries.map(({ id }) => id)).size).toBe(3);
});
