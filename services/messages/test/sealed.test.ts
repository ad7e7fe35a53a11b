import { expect, test } from '@jest/globals';
import { createKeyring } from '#lib/keys/keyring.ts';
import { oldBoxKeys } from '#lib/keys/secret-key.ts';
import { query } from '#lib/postgres/query.ts';
import { resealColumn } from '#lib/postgres/reseal.ts';
import { keysetsOf, newInstallation } from '../../../deploy/keys/installation.ts';
import { testStore } from '../../../test/setup/database.ts';
import { shared } from '../../../test/setup/shared.ts';
import { sealedColumns } from '../kept-data.ts';
import { register } from '../reports/keys.ts';
import { readOpen } from '../reports/set-up.ts';
import { openMessagesStore } from '../store.ts';

const secret = 'the-secret-key-of-an-installation-before-keysets';
const workspaceId = 'w1';
// Sealed before keysets, for this message.
const messageId = '0f8fad5b-d9cb-469f-a165-70867728950e';
const request = Buffer.from('0cdbPYTCuajCIAHK3drrJHJDblMJ05vRARfKITgnLNgLrPc=', 'base64');

const given = shared(
  async () => ({ store: await testStore(openMessagesStore) }),
  ({ store }) => store.close(),
);
const keyset = keysetsOf(newInstallation(secret)).messages;
if (!keyset) throw new Error('no keys');
const keyring = createKeyring(keyset, {
  oldBoxKeys: async (purpose, id) => oldBoxKeys([secret], purpose, id),
});
const newKey = Buffer.alloc(32, 7).toString('base64url');
const lines: unknown[] = [];
const log = { info: (line: unknown) => void lines.push(line) };

const store = (id: string, sealed: Buffer) =>
  query(
    given.store.fork(),
    'insert into message_requests (workspace_id, message_id, request) values ($1, $2, $3)',
    [workspaceId, id, sealed],
  );

async function rotate() {
  const [requests] = sealedColumns(keyring);
  if (!requests) throw new Error('no columns');
  return resealColumn(given.store, requests, log);
}

async function stored(id: string): Promise<Buffer> {
  const [row] = await query<{ request: Buffer }>(
    given.store.fork(),
    'select request from message_requests where message_id = $1',
    [id],
  );
  return row?.request ?? Buffer.alloc(0);
}

test('values sealed before keysets are sealed by the key in use, once, in batches', async () => {
  await store(messageId, request);
  const box = keyring.box('message-requests', workspaceId);
  const ids = Array.from({ length: 120 }, () => crypto.randomUUID());
  for (const id of ids) await store(id, box.seal(Buffer.from(id), id));
  const lost = crypto.randomUUID();
  await store(lost, Buffer.from('nobody can open this, whatever the key may be'));
  expect(await rotate()).toEqual({ rows: 122, resealed: 1, unreadable: 1 });
  const now = await stored(messageId);
  expect(box.open(now, messageId).toString()).toBe('{"a":1}');
  expect(() => box.open(now, lost)).toThrow('cannot be opened');
  expect(await rotate()).toEqual({ rows: 122, resealed: 0, unreadable: 1 });
  expect(await stored(messageId)).toEqual(now);
  expect(lines.at(-1)).toMatchObject({ table: 'message_requests', rows: 122 });
});

test('keys of registrations for reports are sealed by the key in use', async () => {
  const place = { workspaceId, integrationId: 'i1' };
  const em = given.store.fork();
  await register(em, place, { types: ['bounce'], keyring, isSetUp: true });
  const before = await readOpen(em, keyring, place);
  const column = sealedColumns(keyring).find(({ table }) => table === 'report_keys');
  if (!column) throw new Error('it is no sealed column');
  expect(await resealColumn(given.store, column, log)).toMatchObject({ rows: 1, unreadable: 0 });
  const rotated = createKeyring({
    ...keyset,
    boxes: {
      ...keyset.boxes,
      'message-contents': [newKey, ...(keyset.boxes['message-contents'] ?? [])],
    },
  });
  const anew = sealedColumns(rotated).find(({ table }) => table === 'report_keys') ?? column;
  expect(await resealColumn(given.store, anew, log)).toMatchObject({ rows: 1, resealed: 1 });
  expect(await readOpen(em, rotated, place)).toEqual(before);
});
