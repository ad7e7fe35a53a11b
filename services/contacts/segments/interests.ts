import type { Interests } from '#lib/jobs/interest-pushes.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { touches } from '../changes/touch.ts';
import { messageKinds } from './tree/tree.ts';

/** Bounces and complaints change memberships, whatever segments read. */
const always: readonly string[] = ['email.bounced', 'email.complained'];

/** The events of messages that the trees of segments read. */
export const messageInterests: Interests = {
  consumer: 'contacts',
  table: 'message_interests',
  task: 'pushMessageInterest',
  unset: always,
  others: always,
  wantedTypes,
};

async function wantedTypes(em: EntityManager, workspaceId: string): Promise<string[]> {
  const rows = await query<{ key: string }>(
    em,
    `select distinct unnest(reads) as key from segments where workspace_id = $1 and status <> 'deleted'`,
    [workspaceId],
  );
  const read = new Set(rows.map(({ key }) => key));
  const types = [...messageKinds].flatMap(([kind, type]) =>
    read.has(touches.message(kind)) ? [type] : [],
  );
  return [...new Set([...always, ...types])];
}
