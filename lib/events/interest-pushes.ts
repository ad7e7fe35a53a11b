import { type Client, createClient, type Transport } from '@connectrpc/connect';
import { EventProducerService } from '#gen/postrider/events/v1/events_pb.ts';
import { addJob } from '../jobs/jobs.ts';
import type { Log } from '../log.ts';
import { query } from '../postgres/query.ts';
import type { EntityManager, Store } from '../postgres/store.ts';
import { consumersOf, producersFor } from './contracts.ts';

/** The services that make events, by name. */
export type Producers = Record<string, Pick<Client<typeof EventProducerService>, 'setInterest'>>;

/** Clients for the services that publish events for a consumer. */
export function openProducers(consumer: string, peer: (name: string) => Transport): Producers {
  const names = producersFor(consumer);
  return Object.fromEntries(
    names.map((name) => [name, createClient(EventProducerService, peer(name))]),
  );
}

/**
 * How a consumer keeps its producers' interests. Its table has a row for each workspace that ever
 * wanted anything: types that every producer makes for certain. Producers may make more, so the row
 * is widened after a push and narrowed in a commit before one. The lock of the row orders the
 * pushes of a workspace.
 */
export type Interests = {
  /** The service that consumes. */
  consumer: string;
  /** With the columns `workspace_id` and `types`. */
  table: string;
  /** The task that pushes. */
  task: string;
  /** The types that are made for a workspace without a row. */
  unset: readonly string[];
  /** What the producers make for workspaces without types of their own. */
  others: readonly string[];
  /** Reads what a workspace wants now. */
  wantedTypes(em: EntityManager, workspaceId: string): Promise<string[]>;
};

export type InterestScope = { em: EntityManager; workspaceId: string };

type Wanted = { workspaceId?: string; types: readonly string[]; version?: bigint };

/**
 * Of a job: one workspace, or all after one, by their ids. A repeat does not replace the job that
 * waits.
 */
type Push = { workspaceId?: string; after?: string; isRepeat?: true };

const callTimeoutMs = 5_000;
const retryMs = 5_000;
/**
 * A producer that has lost an interest, in a failover or a restore, has it again within this time.
 */
const everyMs = 60 * 60 * 1_000;
/**
 * A version that the clock of a restored or moved database gives may be lower than one from before.
 */
const versionsMax = 3;
/** An update stops the processes of the last release within this time. */
const oldProcessesEndMs = 60_000;
/** A job takes less than two minutes also if every call takes 100 ms. */
const pageSize = 500;
/** So many in a row mean that a producer is away. */
const failuresMax = 3;

/**
 * Makes a change of what a workspace wants. New types reach all producers before it commits, so
 * that no event after the answer is missed; types that are wanted no more are narrowed by a job.
 */
export async function changeInterests<Result>(
  interests: Interests,
  producers: Producers,
  { em, workspaceId }: InterestScope,
  change: () => Promise<Result>,
): Promise<Result> {
  const { made, version } = await lockMade(interests, { em, workspaceId });
  const result = await change();
  const wanted = await interests.wantedTypes(em, workspaceId);
  const both = [...new Set([...made, ...wanted])];
  if (both.length > made.length) {
    await push(interests, producers, { workspaceId, types: both, version });
    await keepMade(interests, { em, workspaceId }, both);
  }
  if (both.length > wanted.length) await addPush(interests, em, { workspaceId });
  return result;
}

/**
 * Called when a consumer starts: pushes what all want, so that types that are new with a release
 * are made from then on. A process of the last release that takes the job leaves them out, so it is
 * repeated once these have ended.
 */
export async function startInterests(interests: Interests, em: EntityManager): Promise<void> {
  await addPush(interests, em, {});
  await addPush(interests, em, { isRepeat: true }, oldProcessesEndMs);
}

/** Queues a push of what a workspace wants then, or of what all want if none is given. */
export async function addPush(
  { consumer, task }: Interests,
  em: EntityManager,
  payload: Push,
  inMs = 0,
): Promise<void> {
  const key = `${task} ${payload.workspaceId ?? ''}${payload.isRepeat ? ' again' : ''}`;
  const runAt = new Date(Date.now() + inMs);
  await addJob(em, consumer, { task, payload, key, ...(inMs > 0 ? { runAt } : {}) });
}

/**
 * The task: pushes what one workspace wants, or what all want, a page in each run, and then again
 * every hour.
 */
export function pushInterests(
  interests: Interests,
  producers: Producers,
  { store, log }: { store: Store; log: Pick<Log, 'warn'> },
) {
  const put = (payload: Push, inMs: number) => addPush(interests, store.fork(), payload, inMs);
  const pushOne = async (workspaceId: string): Promise<boolean> => {
    try {
      await pushWanted(interests, producers, { store, workspaceId });
      return true;
    } catch (error) {
      log.warn({ err: error, workspaceId }, 'an interest in events was not set; trying again');
      await put({ workspaceId }, retryMs);
      return false;
    }
  };
  const pushPage = async (after: string): Promise<void> => {
    const page = await workspacesAfter(interests, store, after);
    let failures = 0;
    for (const workspaceId of page) {
      failures = (await pushOne(workspaceId)) ? 0 : failures + 1;
      if (failures === failuresMax) return put({ after: workspaceId }, retryMs);
    }
    const last = page.at(-1);
    if (page.length === pageSize && last !== undefined) return put({ after: last }, 0);
    await push(interests, producers, { types: interests.others });
    await put({}, everyMs);
  };
  return async (payload: unknown): Promise<void> => {
    const { workspaceId, after = '' } = payload as Push;
    if (workspaceId !== undefined) return void (await pushOne(workspaceId));
    try {
      await pushPage(after);
    } catch (error) {
      log.warn({ err: error }, 'interests in events were not all set; trying again');
      await put({ after }, retryMs);
    }
  };
}

/** Narrows the row in a commit of its own, if it must be, then pushes, then widens it. */
async function pushWanted(
  interests: Interests,
  producers: Producers,
  { store, workspaceId }: { store: Store; workspaceId: string },
): Promise<void> {
  for (let isPushed = false; !isPushed; ) {
    isPushed = await store.fork().transactional(async (em) => {
      const scope = { em, workspaceId };
      const { made, version } = await lockMade(interests, scope);
      const wanted = await interests.wantedTypes(em, workspaceId);
      const kept = made.filter((type) => wanted.includes(type));
      if (kept.length < made.length) {
        await keepMade(interests, scope, kept);
        return false;
      }
      await push(interests, producers, { workspaceId, types: wanted, version });
      await keepMade(interests, scope, wanted);
      return true;
    });
  }
}

/**
 * Sets the types of a workspace, or, without one, of those that have none of their own. Ends when
 * no call is open.
 */
async function push(
  { consumer }: Interests,
  producers: Producers,
  { workspaceId = '', types, version = 0n }: Wanted,
): Promise<void> {
  const calls = await Promise.allSettled(
    Object.entries(producers).map(([producer, client]) => {
      const own = consumersOf(producer).find((each) => each.consumer === consumer);
      const made = types.filter((type) => own?.types.includes(type));
      return setNewest(client, { consumer, workspaceId, types: made, version });
    }),
  );
  const failed = calls.find((call) => call.status === 'rejected');
  if (failed) throw failed.reason;
}

/** The caller holds the lock of the workspace, so a higher version is from before. */
async function setNewest(
  client: Producers[string],
  request: { consumer: string; workspaceId: string; types: string[]; version: bigint },
): Promise<void> {
  let { version } = request;
  for (let calls = 0; calls < versionsMax; calls += 1) {
    const answer = await client.setInterest({ ...request, version }, { timeoutMs: callTimeoutMs });
    if (answer.version <= version) return;
    version = answer.version + 1n;
  }
  throw new Error('the interest was set by somebody else at the same time');
}

/**
 * The types that are made, and a version that is higher than those of earlier locks: microseconds.
 */
async function lockMade({ table, unset }: Interests, { em, workspaceId }: InterestScope) {
  const [row] = await query<{ types: string[]; version: string }>(
    em,
    `insert into ${table} (workspace_id, types) values ($1, $2)
     on conflict (workspace_id) do update set types = ${table}.types
     returning types, (extract(epoch from clock_timestamp()) * 1000000)::bigint as version`,
    [workspaceId, unset],
  );
  return { made: row?.types ?? [], version: BigInt(row?.version ?? 0) };
}

async function keepMade(
  { table }: Interests,
  { em, workspaceId }: InterestScope,
  types: readonly string[],
): Promise<void> {
  await query(em, `update ${table} set types = $2 where workspace_id = $1`, [workspaceId, types]);
}

async function workspacesAfter({ table }: Interests, store: Store, after: string) {
  const rows = await query<{ id: string }>(
    store.fork(),
    `select workspace_id as id from ${table}
     where workspace_id > $1 order by workspace_id limit ${pageSize}`,
    [after],
  );
  return rows.map(({ id }) => id);
}
