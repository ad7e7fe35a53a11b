import type { Keyring } from '#lib/keys/keyring.ts';
import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { MessageRow } from '../message-queries.ts';
import { openRequest, type StoredFile } from '../transactional/content.ts';
import type { StoredRequest } from '../views/message.ts';

/** The requests of transactional messages, by message, up to a number of bytes. */
export type Requests = {
  found: Map<string, StoredRequest>;
  /** The first message that there was no room for. */
  cutAt: string | undefined;
};

/** The values of one message may have 300 KB, and a page a thousand messages. */
export const requestsMaxBytes = 2 * 1024 * 1024;

type RequestRow = {
  id: string;
  has_room: boolean;
  request: Buffer | null;
  attachments: StoredFile[] | null;
};

// One look by key for each message: the workspace is hidden from the planner, which would join a
// young table otherwise. Sizes are read without the values.
const requestsSql = `
  select id, has_room, case when has_room then request end as request, attachments
  from (
    select asked.id, r.request, r.attachments,
      sum(octet_length(r.request)) over (order by asked.place) <= ${requestsMaxBytes} or asked.place = 1 as has_room
    from unnest($2::uuid[]) with ordinality asked (id, place)
    cross join lateral (
      select request, attachments from message_requests
      where message_id = asked.id and workspace_id || '' = $1 offset 0
    ) r
    order by asked.place
  ) sized`;

export async function readRequests(
  { store, keyring }: { store: Store; keyring: Keyring },
  workspaceId: string,
  messages: readonly MessageRow[],
): Promise<Requests> {
  const ids = messages.filter((row) => row.notification_id !== null).map(({ id }) => id);
  const found: Requests['found'] = new Map();
  if (ids.length === 0) return { found, cutAt: undefined };
  const rows = await query<RequestRow>(store.fork(), requestsSql, [workspaceId, ids]);
  for (const { id, request, attachments } of rows) {
    if (!request) continue;
    const stored = await openRequest(keyring, { workspaceId, id }, request);
    found.set(id, { ...stored, attachments: attachments ?? [] });
  }
  return { found, cutAt: rows.find((row) => !row.has_room)?.id };
}
