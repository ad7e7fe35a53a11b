import { create } from '@bufbuild/protobuf';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { EraseWorkspaceResponseSchema } from '#gen/postrider/events/v1/events_pb.ts';
import { addJob } from '#lib/jobs/jobs.ts';
import type { Claims } from '#lib/keys/keyring.ts';
import { type ErasedTable, erase } from '#lib/postgres/erase.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { erasedTables as broadcastParts } from '../../services/broadcasts/kept-data.ts';
import { openBroadcastsStore } from '../../services/broadcasts/store.ts';
import { erasedTables as contactParts } from '../../services/contacts/kept-data.ts';
import { openContactsStore } from '../../services/contacts/store.ts';
import { erasedTables as messageParts } from '../../services/messages/kept-data.ts';
import { openMessagesStore } from '../../services/messages/store.ts';
import { erasedTables as templateParts } from '../../services/templates/kept-data.ts';
import { openTemplatesStore } from '../../services/templates/store.ts';
import { erasedTables as webhookParts } from '../../services/webhooks/kept-data.ts';
import { openWebhooksStore } from '../../services/webhooks/store.ts';
import type { DataService } from '../../services/workspaces/deletion/erase.ts';
import { eraseWorkspace } from '../../services/workspaces/tasks/erase-workspace.ts';
import { type Given, givenRoot, givenService } from '../../services/workspaces/test/given.ts';
import { testStore } from '../setup/database.ts';
import { fill, rowsOf, tenantTables } from './rows.ts';

/** All services as far as they keep data, each with a database of its own. */
const stores: Record<string, Store> = {};
const parts: Record<string, readonly ErasedTable[]> = {};
/** Services that do not answer. */
const down = new Set<string>();
const recalled: string[] = [];
const said: unknown[] = [];
let given: Given;
let root: Claims;

beforeAll(async () => {
  given = await givenService();
  for (const [name, open] of Object.entries({
    contacts: openContactsStore,
    templates: openTemplatesStore,
    broadcasts: openBroadcastsStore,
    messages: openMessagesStore,
    webhooks: openWebhooksStore,
  })) {
    stores[name] = await testStore(open);
  }
  const { broadcasts, messages, webhooks } = stores as Record<string, Store>;
  const dispatcher = { recall: async ({ id }: { id: string }) => void recalled.push(id) };
  Object.assign(parts, {
    contacts: contactParts,
    templates: templateParts,
    broadcasts: broadcastParts(broadcasts as Store),
    messages: messageParts(messages as Store),
    webhooks: webhookParts({ store: webhooks, dispatcher } as never),
  });
  const dataServices = Object.keys(stores).map((name) => [name, serviceOf(name)] as const);
  Object.assign(given.context, { dataServices: Object.fromEntries(dataServices) });
  root = await givenRoot(given);
  stores.workspaces = given.context.store;
}, 60_000);
afterAll(async () => {
  await Promise.all(Object.values(stores).map((store) => store.close()));
  await given.context.egress.close();
});

function serviceOf(name: string): DataService {
  return {
    async eraseWorkspace({ workspaceId = '' }) {
      if (down.has(name)) throw new Error('down');
      const { erased, left } = await erase(stores[name] as Store, workspaceId, parts[name] ?? []);
      return create(EraseWorkspaceResponseSchema, { erased: BigInt(erased), left });
    },
  };
}

async function everywhere(workspaceId: string): Promise<Record<string, object>> {
  const found = Object.entries(stores).map(
    async ([name, store]) => [name, await rowsOf(store, workspaceId)] as const,
  );
  return Object.fromEntries(await Promise.all(found));
}

const nowhere = () => Object.fromEntries(Object.keys(stores).map((name) => [name, {}]));
const fillAll = async (workspaceId: string) => {
  for (const store of Object.values(stores)) await fill(store, workspaceId);
};

const log = {
  info: (fields: object, text: string) => said.push([text, fields]),
  warn: () => {},
} as never;
const round = (id: string) => eraseWorkspace(given.context, { log })({ id });
const stateOf = (id: string) => given.deletions(root).getDeletion({ id });
function pass(minutes: number): void {
  given.clock.now = new Date(given.clock.now.getTime() + minutes * 60_000);
}

async function givenDoomed(id: string): Promise<void> {
  await given.workspaces(root).createWorkspace({ id, name: 'Doomed' });
  await fillAll(id);
}

test('a deleted workspace leaves no row in any table of any service, and its neighbours keep theirs', async () => {
  await givenDoomed('doomed');
  await givenDoomed('neighbour');
  const before = await everywhere('neighbour');
  for (const [name, rows] of Object.entries(before)) {
    expect(Object.keys(rows)).toEqual(await tenantTables(stores[name] as Store));
  }
  await given.deletions(root).deleteWorkspace({ id: 'doomed' });
  expect(await stateOf('doomed')).toMatchObject({ status: 'erasing' });
  await round('doomed');
  expect(await everywhere('doomed')).toEqual(nowhere());
  const { watch_cursor: _, ...broadcasts } = before.broadcasts as Record<string, number>;
  expect(await everywhere('neighbour')).toMatchObject({ ...before, broadcasts });
});

test('the id is taken, and nothing is said to be done, until nothing can come any more', async () => {
  const create = () => given.workspaces(root).createWorkspace({ id: 'late', name: 'Late' });
  await givenDoomed('late');
  await given.deletions(root).deleteWorkspace({ id: 'late' });
  await round('late');
  expect(await stateOf('late')).toMatchObject({ status: 'erasing', left: [] });
  await expect(create()).rejects.toThrow('Workspace already exists');
  // A call that began before the deletion.
  await fill(stores.contacts as Store, 'late');
  pass(12);
  await round('late');
  expect(await everywhere('late')).toEqual(nowhere());
  expect(await stateOf('late')).toMatchObject({ status: 'done', left: [] });
  expect(said).toContainEqual(['workspace erased', { workspaceId: 'late', userId: root.subject }]);
  await create();
});

test('a service that is down is erased later, and is named until then', async () => {
  await givenDoomed('patient');
  await given.deletions(root).deleteWorkspace({ id: 'patient' });
  down.add('messages');
  await round('patient');
  pass(12);
  await round('patient');
  expect(await stateOf('patient')).toMatchObject({ status: 'erasing', left: ['messages'] });
  down.clear();
  await round('patient');
  expect(await everywhere('patient')).toEqual(nowhere());
  expect(await stateOf('patient')).toMatchObject({ status: 'done' });
});

test('waiting jobs of a workspace go with it', async () => {
  const store = stores.contacts as Store;
  const jobs = async () =>
    query(store.fork(), 'select payload from contacts_jobs._private_jobs order by id', []);
  for (const workspaceId of ['jobless', 'kept']) {
    await addJob(store.fork(), 'contacts', { task: 'deliverEvents', payload: { workspaceId } });
  }
  await erase(store, 'jobless', contactParts);
  expect(await jobs()).toEqual([{ payload: { workspaceId: 'kept' } }]);
});

test('only who deleted a workspace, and root, learn of its deletion', async () => {
  await expect(stateOf('never')).rejects.toThrow('Deletion not found');
});
