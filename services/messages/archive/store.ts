import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import type { Keyring } from '#lib/keys/keyring.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import { byKey } from '../record/claims.ts';

export type ContentContext = { store: Store; keyring: Keyring };

/** A mail that was sent, encoded. */
export type SentContent = { workspaceId: string; id: string; bytes: Buffer };

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);
/** Higher levels take much more time and save little. */
const level = 3;
/** More than any that is stored: nothing else comes out. */
const inflatedMaxBytes = 2 * 1024 * 1024;

const purpose = 'message-contents';

/**
 * Not of messages whose contact is deleted by now. A deletion waits for the lock and then deletes
 * what was stored, or is seen here. Rows are locked in order, so that groups can't deadlock.
 */
const storeSql = `
  with given as materialized (
    select * from unnest($1::text[], $2::uuid[], $3::bytea[]) as given (workspace_id, id, content)
  ), present as materialized (
    select given.* from given join messages m on ${byKey('m')}
    where m.contact_email <> '' order by given.id for share of m
  )
  insert into message_contents (workspace_id, message_id, content, stored_at)
  select workspace_id, id, content, now() from present
  on conflict (message_id, workspace_id) do update set content = excluded.content, stored_at = excluded.stored_at`;

export async function storeContents(
  { store, keyring }: ContentContext,
  contents: readonly SentContent[],
): Promise<void> {
  const sealed: Buffer[] = [];
  // One after the other: they must take no more than one of the threads.
  for (const { workspaceId, id, bytes } of contents) {
    sealed.push(keyring.box(purpose, workspaceId).seal(await deflate(bytes, { level }), id));
  }
  await query(store.fork(), storeSql, [
    contents.map(({ workspaceId }) => workspaceId),
    contents.map(({ id }) => id),
    sealed,
  ]);
}

/** The mail as it was sent; undefined if it is not kept, or was stored before `since`. */
export async function readContent(
  { store, keyring }: ContentContext,
  { workspaceId, id }: { workspaceId: string; id: string },
  since: Date,
): Promise<Buffer | undefined> {
  const [row] = await query<{ content: Buffer }>(
    store.fork(),
    `select content from message_contents
     where workspace_id = $1 and message_id = $2 and stored_at >= $3`,
    [workspaceId, id, since],
  );
  if (!row) return undefined;
  const deflated = await keyring.openBox(purpose, workspaceId, row.content, id);
  return inflate(deflated, { maxOutputLength: inflatedMaxBytes });
}
