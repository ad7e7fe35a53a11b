import type { Client } from '@connectrpc/connect';
import type { CredentialService } from '#gen/postrider/messages/v1/messages_pb.ts';
import type { Keyring, SealedPlace } from '#lib/keys/keyring.ts';
import { isLetter } from '#lib/keys/letter.ts';
import { signingKeyPlace } from '#lib/keys/places.ts';
import type { Resealed, SealedRow } from '#lib/postgres/reseal.ts';
import { resealEach, type SealedColumn } from '#lib/postgres/reseal.ts';
import { kindsOfProvider } from '#lib/providers/all.ts';
import { secretPlace } from '#lib/providers/kind.ts';
import { keyAt } from '../domains/domain.ts';
import { sealedPath } from '../integrations/settings.ts';
import { hmacKeyPlace, workspaceSecrets } from '../workspace.ts';

export type Credentials = Pick<Client<typeof CredentialService>, 'resealPasswords'>;

type Sealing = { keyring: Keyring; credentials: Credentials };

/** Everything that this service stores sealed. */
export function sealedColumns(context: Sealing): SealedColumn<string>[] {
  const { keyring } = context;
  return [
    {
      ...{ table: 'workspaces', workspace: 'id' },
      ...{ id: { name: 'id', type: 'text' }, type: 'text', batchRows: 200 },
      ...{ read: 't.sealed_hmac_key', column: 'sealed_hmac_key', write: 'given.value' },
      reseal: resealEach(
        ({ id, value }) => keyring.isCurrent(workspaceSecrets, value, id),
        ({ id, value }) => {
          const place = hmacKeyPlace(id);
          return keyring.seal(
            workspaceSecrets,
            keyring.open(workspaceSecrets, value, place),
            place,
          );
        },
      ),
    },
    ...kindsOfProvider.flatMap(({ kind, secrets }) =>
      secrets.map((secret) => secretColumn(context, kind, secret)),
    ),
    {
      table: 'dkim_keys',
      ...{ id: { name: 'host', type: 'text' }, type: 'text', batchRows: 100 },
      ...{ read: 't.sealed_private_key', column: 'sealed_private_key', write: 'given.value' },
      reseal: (rows) =>
        resealLetters(context, rows, ({ workspaceId, id }) => {
          const { domain, selector } = keyAt(id);
          return signingKeyPlace(workspaceId, domain, selector);
        }),
    },
  ];
}

function secretColumn(context: Sealing, kind: string, secret: string): SealedColumn<string> {
  const path = `{${sealedPath(kind, secret).join(',')}}`;
  return {
    table: 'integrations',
    ...{ id: { name: 'id', type: 'text' }, type: 'text', batchRows: 100 },
    ...{ column: 'provider', read: `nullif(t.provider#>>'${path}', '')` },
    write: `jsonb_set(t.provider, '${path}', to_jsonb(given.value))`,
    reseal: (rows) =>
      resealLetters(context, rows, ({ workspaceId, id: integrationId }) =>
        secretPlace({ workspaceId, integrationId }, `${kind}.${secret}`),
      ),
  };
}

type Row = SealedRow<string>;

/** Secrets of before are opened here; only messages opens others, and answers them sealed. */
async function resealLetters(
  { keyring, credentials }: Sealing,
  rows: readonly Row[],
  placeOf: (row: Row) => SealedPlace,
): Promise<Resealed<string>[]> {
  const { letters } = keyring;
  const letterRows = rows.filter(({ value }) => isLetter(value) && !letters.isCurrent(value));
  const answers = new Map<Row, string>();
  for (const [workspaceId, own] of Map.groupBy(letterRows, (row) => row.workspaceId)) {
    const passwords = own.map((row) => {
      const { row: integrationId, column = '' } = placeOf(row);
      return { integrationId, sealed: row.value, secret: column };
    });
    const { sealed } = await credentials.resealPasswords({ workspaceId, passwords });
    for (const [index, row] of own.entries()) answers.set(row, sealed[index] ?? '');
  }
  const resealed = resealEach<string>(
    ({ value }) => letters.isCurrent(value),
    (row) => {
      const anew = answers.get(row);
      if (anew === '') throw new Error('messages cannot open it');
      const place = placeOf(row);
      return anew ?? letters.seal(keyring.open(workspaceSecrets, row.value, place), place);
    },
  );
  return [...(await resealed(rows))];
}
