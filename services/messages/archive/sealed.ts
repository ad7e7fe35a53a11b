import type { Keyring } from '#lib/keys/keyring.ts';
import { resealEach, type SealedColumn } from '#lib/postgres/reseal.ts';

/** Everything that this service stores sealed. */
export function sealedColumns(keyring: Keyring): SealedColumn<Buffer>[] {
  const boxed = (table: string, column: string, purpose: string): SealedColumn<Buffer> => ({
    ...{ table, isIdFirst: true },
    ...{ id: { name: 'message_id', type: 'uuid' }, type: 'bytea', batchRows: 50 },
    ...{ read: `t.${column}`, column, write: 'given.value' },
    reseal: resealEach(
      ({ workspaceId, value }) => keyring.box(purpose, workspaceId).isCurrent(value),
      async ({ workspaceId, id, value }) => {
        const plain = await keyring.openBox(purpose, workspaceId, value, id);
        return keyring.box(purpose, workspaceId).seal(plain, id);
      },
    ),
  });
  return [
    boxed('message_requests', 'request', 'message-requests'),
    boxed('message_contents', 'content', 'message-contents'),
  ];
}
