import { create, fromJson } from '@bufbuild/protobuf';
import { type Timestamp, TimestampSchema } from '@bufbuild/protobuf/wkt';
import { createClient, type Transport } from '@connectrpc/connect';
import {
  type Event,
  EventConsumerService,
  EventSchema,
} from '#gen/postrider/events/v1/events_pb.ts';
import { currentTraceparent } from '#lib/telemetry/tracing.ts';
import { attemptsMax } from '../jobs/jobs.ts';
import { nudgeRunners } from '../jobs/nudges.ts';
import { callPeer } from '../jobs/reachability.ts';
import { afterCommit } from '../postgres/after-commit.ts';
import { insertQuietJobs, quietJob } from '../postgres/job-schema.ts';
import { plannedEachTime, prepared } from '../postgres/prepared.ts';
import { query } from '../postgres/query.ts';
import type { EntityManager } from '../postgres/store.ts';
import { byWorkspace } from './by-workspace.ts';
import { consumersOf, type EventConsumer } from './contracts.ts';
import type { Delivered, EventJob, EventTask } from './event-turns.ts';
import { takerOf } from './handover.ts';
import { interestSteps, isWanted } from './interests.ts';
import { unlessOlder } from './older-consumers.ts';

const eventsPerBatchMax = 500;
/** A batch is one message of at most 28 MiB; one event is well below a megabyte. */
const bytesPerBatchMax = 4 * 1024 * 1024;

/** Small batches of many changes are delivered together. */
const smallMaxEvents = 50;
const smallMaxBytes = 32 * 1024;
const isSmall = `count(*) <= ${smallMaxEvents} and sum(octet_length(data)) <= ${smallMaxBytes}`;

/** The service that publishes events, and its consumers that are deployed. */
export type Outbox = { service: string; consumers: readonly EventConsumer[] };

/** Transports to the consumers of a service's events; undefined for one that is not deployed. */
export function consumerPeers(
  service: string,
  peerIfDeployed: (name: string) => Transport | undefined,
): Record<string, Transport | undefined> {
  const names = consumersOf(service).map(({ consumer }) => consumer);
  return Object.fromEntries(names.map((name) => [name, peerIfDeployed(name)]));
}

/**
 * Sends to the consumers that this process has a transport to. No jobs are added for one that is
 * not deployed: they would pile up.
 */
export function openOutbox(service: string, peers: Record<string, Transport | undefined>): Outbox {
  const consumers = consumersOf(service).filter(({ consumer }) => peers[consumer]);
  return { service, consumers };
}

/** The transaction of a workspace's change, and the outbox for its events. */
export type EventScope = { em: EntityManager; outbox: Outbox; workspaceId: string };

/**
 * The events of some rows, in SQL. Nothing of it is computed while nobody wants any of the types.
 */
export type EventSource = {
  types: readonly string[];
  /** SQL for the type of a row; needed if there are several. */
  type?: string;
  occurredAt: string;
  /** A JSON object. */
  data: string;
  /** The steps with the rows, and their conditions. */
  from: string;
  where?: string;
};

/** A statement without its values. */
export type Change = {
  /** The steps of a `with`. They may use `isWanted`. */
  steps: string;
  /** The events, by the rows of the steps. */
  events: readonly EventSource[];
  /** The columns to select from the steps, in one row. */
  answer: string;
  /**
   * Whether to prepare the statement: the change must be a constant, with a plan that suits tables
   * of any size.
   */
  isPrepared?: boolean;
  /** Why it is planned in each call instead. */
  plannedEachTime?: string;
};

/** The jobs of a change, and those of them that a runner of this process takes. */
type Told = { jobsTold: number; jobsTaken: EventJob[] | null };

/** Of prepared changes, whose texts have tens of kilobytes. */
const texts = new WeakMap<Change, string>();

/**
 * Changes rows and adds their events in one statement: PostgreSQL writes the batches, one job each,
 * so no event passes through this process before it is delivered. Events that no consumer wants are
 * not made.
 */
export async function writeWithEvents<Answer>(
  { em, outbox, workspaceId }: EventScope,
  change: Change,
  values: readonly unknown[],
): Promise<Answer | undefined> {
  const { service, consumers } = outbox;
  const text = texts.get(change) ?? textOf(change, service, values.length);
  if (change.isPrepared) texts.set(change, text);
  const taker = takerOf(service, workspaceId);
  const [row] = await query<Answer & Told>(em, text, [
    ...values,
    workspaceId,
    JSON.stringify(consumers),
    currentTraceparent() ?? null,
    taker?.workerId ?? null,
  ]);
  if (!row) return undefined;
  const { jobsTold, jobsTaken, ...answered } = row;
  if (jobsTaken) afterCommit(em, () => taker?.take(jobsTaken));
  const left = jobsTold - (jobsTaken?.length ?? 0);
  if (left > 0) afterCommit(em, () => nudgeRunners(service, left));
  return answered as Answer;
}

function textOf(
  { steps, events, answer, isPrepared, plannedEachTime: reason }: Change,
  service: string,
  valueCount: number,
): string {
  const workspace = `$${valueCount + 1}`;
  const traceparent = `$${valueCount + 3}`;
  const workerId = `$${valueCount + 4}`;
  const text = `with ${interestSteps({ consumers: `$${valueCount + 2}`, workspace })},
     ${steps},
     events as (${events.map(wantedEvents).join(' union all ')}),
     -- Written down once: what is read of a step several times is computed as often.
     addressed as materialized (
       select consumer, type, occurred_at, data::text as data
       from events join interest on type = any(types)
     ),
     batched as (
       select *,
         (row_number() over so_far - 1) / ${eventsPerBatchMax} as by_count,
         sum(octet_length(data)) over so_far / ${bytesPerBatchMax} as by_size
       from addressed
       window so_far as (rows unbounded preceding)
     ),
     told as materialized (
       ${insertQuietJobs(service)}
       select ${quietJob(service, { attemptsMax, workspace, isSmall, workerId })}, json_build_object(
         'consumer', consumer,
         'workspaceId', ${workspace}::text,
         'batchId', gen_random_uuid(),
         'traceparent', ${traceparent}::text,
         -- An object for each event costs half of what its fact does.
         'types', json_agg(type),
         'times', json_agg(occurred_at),
         'data', json_agg(data)
       )
       from batched
       group by consumer, by_count, by_size
       returning id, attempts, payload
     )
     select ${answer}, told.jobs as "jobsTold", told.taken as "jobsTaken"
     from (
       select count(*)::int as jobs,
         json_agg(
           json_build_object('id', id::text, 'attempts', attempts, 'isSmall', true, 'payload', payload) order by id
         ) filter (where attempts > 0) as taken
       from told
     ) told`;
  if (isPrepared) return prepared(text);
  return reason ? plannedEachTime(reason, text) : text;
}

function wantedEvents({ types, type, occurredAt, data, from, where = 'true' }: EventSource) {
  // Not a condition on the rows: the planner would expect one row, and join steps row by row.
  const dataOfRow = type
    ? `case when ${type} = any((select types from wanted)::text[]) then ${data} end`
    : data;
  return `select ${type ?? `'${types[0]}'`} as type, ${occurredAt}::timestamptz as occurred_at, ${dataOfRow} as data
    from ${from}
    where ${isWanted(types)} and (${where})`;
}

/**
 * A batch for a hundred takers is fifty thousand rows of one transaction. Its job is released after
 * two minutes.
 */
const largeTimeoutMs = 60_000;

/**
 * The task that delivers batches to their consumer, in one call; the runner repeats those that the
 * consumer does not accept.
 */
export function deliverEvents(
  service: string,
  peers: Record<string, Transport | undefined>,
): EventTask {
  return async (payloads, helpers) => {
    const batches = payloads as EventBatch[];
    const [{ consumer } = { consumer: '' }] = batches;
    const transport = peers[consumer];
    if (!transport) throw new Error(`no consumer ${consumer}`);
    const client = createClient(EventConsumerService, transport);
    const call = <Answer>(make: () => Promise<Answer>) =>
      callPeer({ service, peer: consumer, helpers }, make);
    const one = async (batch: EventBatch): Promise<Delivered> => {
      const { workspaceId, batchId } = batch;
      const request = { workspaceId, batchId, events: eventsOf(batch) };
      await call(() => client.consumeEvents(request, { timeoutMs: largeTimeoutMs }));
      return {};
    };
    const [first, ...others] = batches;
    if (first && others.length === 0) return [await one(first)];
    return unlessOlder(
      `${service} ${consumer}`,
      async () => {
        const request = { batches: batches.map(messageOf) };
        const { outcomes } = await call(() => client.consumeEventBatches(request));
        return outcomes.map(({ error, tookMs, alone: isAlone }) => ({
          tookMs,
          ...(isAlone ? { isAlone } : {}),
          ...(error ? { error: new Error(error) } : {}),
        }));
      },
      () => byWorkspace(batches, (batch) => one(batch).catch((error) => ({ error }))),
    );
  };
}

const messageOf = (batch: EventBatch) => ({
  workspaceId: batch.workspaceId,
  batchId: batch.batchId,
  events: eventsOf(batch),
  traceparent: batch.traceparent ?? '',
});

/** The payload of a job: an event has the same index in `types`, `times` and `data`. */
export type EventBatch = {
  consumer: string;
  workspaceId: string;
  batchId: string;
  types: string[];
  /** In RFC 3339. */
  times: string[];
  /** Each a JSON text. */
  data: string[];
  /** Of the change that made them; null without a trace. */
  traceparent?: string | null;
};

export function eventsOf({ types, times, data }: EventBatch): Event[] {
  const timeOf = timeReader();
  return types.map((type, place) =>
    create(EventSchema, { type, occurredAt: timeOf(times[place]), dataJson: data[place] }),
  );
}

/** Parses a time that many events share only once. */
function timeReader(): (text: string | undefined) => Timestamp {
  const known = new Map<string | undefined, Timestamp>();
  return (text) => {
    const time = known.get(text) ?? fromJson(TimestampSchema, text ?? null);
    known.set(text, time);
    return time;
  };
}
