import type { Keyring } from '#lib/keys/keyring.ts';
import { resealEach, type SealedColumn } from '#lib/postgres/reseal.ts';
import { isSealedNow, openSecret, sealSecret } from './secret.ts';

/** Everything that this service stores sealed. */
export function sealedColumns(keyring: Keyring): SealedColumn<string>[] {
  return [
    {
      table: 'subscriptions',
      ...{ id: { name: 'id', type: 'text' }, type: 'text', batchRows: 200 },
      ...{ read: 't.sealed_secret', column: 'sealed_secret', write: 'given.value' },
      reseal: resealEach(
        ({ workspaceId, value }) => isSealedNow(keyring, workspaceId, value),
        ({ workspaceId, id, value }) => {
          const key = { workspaceId, id };
          return sealSecret(keyring, key, openSecret(keyring, key, value));
        },
      ),
    },
  ];
}
