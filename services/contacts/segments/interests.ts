import { EmailBouncedSchema, EmailComplainedSchema } from '#gen/postrider/events/v1/email_pb.ts';
import { typeOf } from '#lib/events/contracts.ts';
import type { Interests } from '#lib/events/interest-pushes.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { touches } from '../changes/touch.ts';
import { messageKinds } from './tree/tree.ts';

/** Bounces and complaints change memberships, whatever segments read. */
const always = [typeOf(EmailBouncedSchema), typeOf(EmailComplainedSchema)];

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
