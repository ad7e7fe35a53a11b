import { create, fromJson } from '@bufbuild/protobuf';
import { type Timestamp, TimestampSchema } from '@bufbuild/protobuf/wkt';
import { createClient, type Transport } from '@connectrpc/connect';
import {
  ConsumeEventsRequestSchema,
  type Event,
  EventConsumerService,
  EventSchema,
} from '#gen/postrider/events/v1/events_pb.ts';
import { schemaOf } from '../postgres/job-schema.ts';
import { prepared } from '../postgres/prepared.ts';
import { query } from '../postgres/query.ts';
import type { EntityManager } from '../postgres/store.ts';
import { attemptsMax } from './jobs.ts';

const eventsPerBatchMax = 500;
/** A batch is one message of at most 20 MiB; one event is well below a megabyte. */
const bytesPerBatchMax = 4 * 1024 * 1024;

type Interest = { consumer: string; types: readonly string[] };

/** The events that each service sends, by consumer. */
const interests: Record<string, readonly Interest[]> = {
  contacts: [
    { consumer: 'messages', types: ['confirmation.due', 'contact.deleted'] },
    {
      consumer: 'webhooks',
      types: [
        'contact.created',
        'contact.updated',
        'contact.deleted',
        'list.subscribed',
        'list.unsubscribed',
        'list.confirmed',
        'list.resubscribed',
        'list.bounced',
        'list.complained',
        'list.pending',
        'list.removed',
      ],
    },
  ],
  messages: [
    { consumer: 'contacts', types: ['email.bounced', 'email.complained'] },
    {
      consumer: 'webhooks',
      types: [
        'email.sent',
        'email.delivered',
        'email.opened',
        'email.clicked',
        'email.bounced',
        'email.complained',
        'email.unsubscribed',
      ],
    },
  ],
};

/** The service that sends events, and the consumers that are deployed. */
export type Outbox = { service: string; interests: readonly Interest[] };

/**
 * Sends to the consumers that this process has a transport to. No jobs are added for one that is not deployed: they
 * would pile up.
 */
export function openOutbox(
  service: string,
  consumers: Record<string, Transport | undefined>,
): Outbox {
  const registered = (interests[service] ?? []).filter(({ consumer }) => consumers[consumer]);
  return { service, interests: registered };
}

/** The transaction of a workspace's change, and the outbox for its events. */
export type EventScope = { em: EntityManager; outbox: Outbox; workspaceId: string };

/** An event, sent to the consumers of its type. */
export type OutgoingEvent = { type: string; occurredAt: Date; data: Record<string, unknown> };

/** Adds events in the caller's transaction. */
export async function addEvents(
  scope: EventScope,
  events: readonly OutgoingEvent[],
): Promise<void> {
  await writeWithEvents(scope, {
    steps: `events as (
      select type, occurred_at, data
      from json_to_recordset($1::json) as fact (type text, occurred_at timestamptz, data json)
    )`,
    answer: 'true as told',
    values: [
      JSON.stringify(
        events.map(({ occurredAt, ...event }) => ({ ...event, occurred_at: occurredAt })),
      ),
    ],
  });
}

export type Change = {
  /** The steps of a `with`, of which `events (type, occurred_at, data)` holds the events. */
  steps: string;
  /** What to select from the steps, in one row. */
  answer: string;
  values: readonly unknown[];
  /** Whether to prepare the statement: it must be one of a few texts, with a plan that suits tables of any size. */
  isPrepared?: boolean;
};

/**
 * Changes rows and adds their events in one statement: PostgreSQL writes the batches, one job each, so no event
 * passes through this process before it is delivered.
 */
export async function writeWithEvents<Answer>(
  { em, outbox, workspaceId }: EventScope,
  { steps, answer, values, isPrepared = false }: Change,
): Promise<Answer | undefined> {
  const { service, interests } = outbox;
  const workspace = `$${values.length + 1}`;
  const interested = `$${values.length + 2}`;
  const text = `with ${steps},
     -- Written down once: what is read of a step several times is computed as often.
     addressed as materialized (
       select consumer, type, occurred_at, data::text as data
       from events
       join json_to_recordset(${interested}::json) as interest (consumer text, types text[])
         on type = any(types)
     ),
     batched as (
       select *,
         (row_number() over so_far - 1) / ${eventsPerBatchMax} as by_count,
         sum(octet_length(data)) over so_far / ${bytesPerBatchMax} as by_size
       from addressed
       window so_far as (rows unbounded preceding)
     ),
     told as materialized (
       select ${schemaOf(service)}.add_job('deliverEvents', json_build_object(
         'consumer', consumer,
         'workspaceId', ${workspace}::text,
         'batchId', gen_random_uuid(),
         -- An object for each event costs half of what its fact does.
         'types', json_agg(type),
         'times', json_agg(occurred_at),
         'data', json_agg(data)
       ), max_attempts := ${attemptsMax}) as job
       from batched
       group by consumer, by_count, by_size
     )
     select ${answer} from (select count(job) from told) told`;
  const [row] = await query<Answer>(em, isPrepared ? prepared(text) : text, [
    ...values,
    workspaceId,
    JSON.stringify(interests),
  ]);
  return row;
}

/** The task that delivers a batch to its consumer; the runner repeats it until the consumer accepts it. */
export function deliverEvents(consumers: Record<string, Transport | undefined>) {
  return async (payload: unknown): Promise<void> => {
    const batch = payload as EventBatch;
    const transport = consumers[batch.consumer];
    if (!transport) throw new Error(`no consumer ${batch.consumer}`);
    const { workspaceId, batchId } = batch;
    const request = create(ConsumeEventsRequestSchema, {
      workspaceId,
      batchId,
      events: eventsOf(batch),
    });
    await createClient(EventConsumerService, transport).consumeEvents(request);
  };
}

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
