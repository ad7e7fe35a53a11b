import type { Client } from '@connectrpc/connect';
import type { EventProducerService } from '#gen/postrider/events/v1/events_pb.ts';
import { addJob } from '#lib/jobs/jobs.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { touches } from '../changes/touch.ts';
import { messageKinds } from './tree/tree.ts';

/** The messages service, which makes the events. */
export type MessageEvents = Pick<Client<typeof EventProducerService>, 'setInterest'>;

type Scope = { em: EntityManager; workspaceId: string };

const callTimeoutMs = 5_000;
/** Bounces and complaints change memberships, whatever segments read. */
const always: readonly string[] = ['email.bounced', 'email.complained'];

/**
 * Changes the segments of a workspace, and has messages know which events their trees read: types that are new before the
 * change commits, so that no event after the answer is missed; types that no tree reads any more by a job. Changes of one
 * workspace take turns.
 */
export async function changeMessageInterest<Result>(
  messageEvents: MessageEvents,
  { em, workspaceId }: Scope,
  change: () => Promise<Result>,
): Promise<Result> {
  const pushed = await lockPushed(em, workspaceId);
  const result = await change();
  const wanted = await wantedTypes(em, workspaceId);
  const both = [...new Set([...pushed, ...wanted])];
  if (both.length > pushed.length) await push(messageEvents, { em, workspaceId }, both);
  if (both.length > wanted.length) await addPush(em, workspaceId);
  return result;
}

/** Queues a push of what a workspace wants then. */
export async function addPush(em: EntityManager, workspaceId: string, runAt?: Date): Promise<void> {
  const key = `message interest ${workspaceId}`;
  const job = { task: 'pushMessageInterest', payload: { workspaceId }, key };
  await addJob(em, 'contacts', runAt ? { ...job, runAt } : job);
}

/** Tells messages what a workspace wants now. Widening waits for it, so the last one is the newest. */
export async function pushWanted(messageEvents: MessageEvents, scope: Scope): Promise<void> {
  await lockPushed(scope.em, scope.workspaceId);
  await push(messageEvents, scope, await wantedTypes(scope.em, scope.workspaceId));
}

async function push(
  messageEvents: MessageEvents,
  { em, workspaceId }: Scope,
  types: readonly string[],
): Promise<void> {
  await messageEvents.setInterest(
    { consumer: 'contacts', workspaceId, types: [...types] },
    { timeoutMs: callTimeoutMs },
  );
  await query(em, 'update message_interests set types = $2 where workspace_id = $1', [
    workspaceId,
    types,
  ]);
}

async function lockPushed(em: EntityManager, workspaceId: string): Promise<string[]> {
  const [row] = await query<{ types: string[] }>(
    em,
    `insert into message_interests (workspace_id, types) values ($1, $2)
     on conflict (workspace_id) do update set types = message_interests.types
     returning types`,
    [workspaceId, always],
  );
  return row?.types ?? [];
}

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
