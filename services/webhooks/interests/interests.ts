import type { Client } from '@connectrpc/connect';
import type { EventProducerService } from '#gen/postrider/events/v1/events_pb.ts';
import { contractsOf } from '#lib/jobs/interests.ts';
import { addJob } from '#lib/jobs/jobs.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';

/** The services whose events are delivered, by name. */
export type Producers = Record<string, Pick<Client<typeof EventProducerService>, 'setInterest'>>;

const callTimeoutMs = 5_000;
/** The deliveries about a deleted contact are erased, whoever listens. */
const alwaysWanted = 'contact.deleted';

/**
 * Changes the subscriptions of a workspace, and has the producers of events know what it listens to: types that are new
 * before the change commits, so that no event after the answer is missed; types that nobody wants any more by a job,
 * since an event too many does no harm. Changes of one workspace take turns.
 */
export async function changeInterests<Result>(
  { producers }: { producers: Producers },
  { em, workspaceId }: { em: EntityManager; workspaceId: string },
  change: () => Promise<Result>,
): Promise<Result> {
  const pushed = await lockPushed(em, workspaceId);
  const result = await change();
  const wanted = await wantedTypes(em, workspaceId);
  const both = [...new Set([...pushed, ...wanted])];
  if (both.length > pushed.length) {
    await push(producers, { workspaceId, types: both });
    await keepPushed(em, workspaceId, both);
  }
  if (both.length > wanted.length) await addPush(em, { workspaceId });
  return result;
}

/** Queues a push of what a workspace wants now, or of what all want if none is given. */
export async function addPush(
  em: EntityManager,
  payload: { workspaceId?: string },
  runAt?: Date,
): Promise<void> {
  const key = `interests ${payload.workspaceId ?? ''}`;
  const job = { task: 'pushInterests', payload, key };
  await addJob(em, 'webhooks', runAt ? { ...job, runAt } : job);
}

/** Tells the producers what a workspace wants now. Widening waits for it, so the last one is the newest. */
export async function pushWanted(
  { producers }: { producers: Producers },
  em: EntityManager,
  workspaceId: string,
): Promise<void> {
  await lockPushed(em, workspaceId);
  const types = await wantedTypes(em, workspaceId);
  await push(producers, { workspaceId, types });
  await keepPushed(em, workspaceId, types);
}

/** Sets the types that each producer makes for a workspace; without one, for all that have none of their own. */
export async function push(
  producers: Producers,
  { workspaceId = '', types }: { workspaceId?: string; types: readonly string[] },
): Promise<void> {
  await Promise.all(
    Object.entries(producers).map(async ([producer, client]) => {
      const contract = contractsOf(producer).find(({ consumer }) => consumer === 'webhooks');
      const made = types.filter((type) => contract?.types.includes(type));
      await client.setInterest(
        { consumer: 'webhooks', workspaceId, types: made },
        { timeoutMs: callTimeoutMs },
      );
    }),
  );
}

async function lockPushed(em: EntityManager, workspaceId: string): Promise<string[]> {
  const [row] = await query<{ types: string[] }>(
    em,
    `insert into workspace_interests (workspace_id, types) values ($1, '{}')
     on conflict (workspace_id) do update set types = workspace_interests.types
     returning types`,
    [workspaceId],
  );
  return row?.types ?? [];
}

async function wantedTypes(em: EntityManager, workspaceId: string): Promise<string[]> {
  const rows = await query<{ type: string }>(
    em,
    `select unnest(event_types) as type from subscriptions where workspace_id = $1 and enabled
     union
     select $2 from subscriptions where workspace_id = $1
     order by type`,
    [workspaceId, alwaysWanted],
  );
  return rows.map(({ type }) => type);
}

async function keepPushed(em: EntityManager, workspaceId: string, types: readonly string[]) {
  await query(em, 'update workspace_interests set types = $2 where workspace_id = $1', [
    workspaceId,
    types,
  ]);
}
