import { toJson } from '@bufbuild/protobuf';
import { TimestampSchema, timestampMs } from '@bufbuild/protobuf/wkt';
import { ContactDeletedSchema } from '#gen/postrider/events/v1/contact_pb.ts';
import type { Event } from '#gen/postrider/events/v1/events_pb.ts';
import { ConfirmationDueSchema, WelcomeDueSchema } from '#gen/postrider/events/v1/list_pb.ts';
import { type ConsumedBatch, consumeOnce } from '#lib/events/consume.ts';
import { typeOf } from '#lib/events/contracts.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { Context, Methods } from '../context.ts';
import { type ConfirmationRequest, requestConfirmations } from '../record/confirmations.ts';
import { forgetTwice } from '../record/forget.ts';
import { requestWelcomes, type WelcomeRequest } from '../record/welcomes.ts';
import { forgetLifted } from '../suppressions/lifted.ts';

type Handler = (
  context: ConsumeContext,
  em: EntityManager,
  about: { workspaceId: string; events: readonly Event[] },
) => Promise<void>;

type ConsumeContext = Pick<Context, 'store' | 'quotas' | 'log'>;

/**
 * Events come late and in no order, so each touches only what is not younger than it. Their times
 * and those of messages come from different clocks; one that is ahead of the database's counts as
 * its present. At the same time the deletion wins.
 */
export const handlers: Readonly<Record<string, Handler>> = {
  [typeOf(ConfirmationDueSchema)]: (_, em, { workspaceId, events }) =>
    requestConfirmations(em, workspaceId, events.map(requestOf).filter(isWhole)),
  [typeOf(WelcomeDueSchema)]: (context, em, { workspaceId, events }) =>
    requestWithinQuota(context, em, { workspaceId, requests: events.flatMap(welcomeOf) }),
  [typeOf(ContactDeletedSchema)]: async (_, em, { workspaceId, events }) => {
    const deletions = deletionsOf(events);
    await forgetTwice(em, workspaceId, deletions);
    await forgetLifted(em, workspaceId, deletions);
  },
};

export function consumeEvents(context: Context): Methods['consumeEvents'] {
  const consume = consumeBatch(context);
  return async (request) => {
    await consume(request);
    return {};
  };
}

/** Applies one batch. Of a group each has a transaction of its own, since it locks addresses. */
export function consumeBatch(context: ConsumeContext) {
  return (batch: ConsumedBatch): Promise<void> =>
    consumeOnce(context.store, batch, async (em) => {
      const { workspaceId, events } = batch;
      for (const [type, handle] of Object.entries(handlers)) {
        const some = events.filter((event) => event.type === type);
        if (some.length > 0) await handle(context, em, { workspaceId, events: some });
      }
    });
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '');

/** In RFC 3339, with all its digits. */
function timeOf({ occurredAt }: Event): string | undefined {
  return occurredAt && toJson(TimestampSchema, occurredAt);
}

function requestOf(event: Event): ConfirmationRequest {
  const { email, list_id: listId } = JSON.parse(event.dataJson);
  return { email: textOf(email), listId: textOf(listId), at: timeOf(event) };
}

const isWhole = ({ email, listId }: ConfirmationRequest) => email !== '' && listId !== '';

/** Beyond the quota of welcomes nobody is welcomed: an event cannot be refused. */
async function requestWithinQuota(
  { quotas, log }: ConsumeContext,
  em: EntityManager,
  { workspaceId, requests }: { workspaceId: string; requests: readonly WelcomeRequest[] },
): Promise<void> {
  const some = requests.slice(0, quotas.room(workspaceId, 'welcomes'));
  const beyond = requests.length - some.length;
  if (beyond > 0) log.warn({ workspaceId, beyond }, 'welcomes beyond the quota are not sent');
  await requestWelcomes(em, workspaceId, some);
  quotas.grew(workspaceId, 'welcomes', some.length);
}

/** None for an event that lacks what it must have. */
function welcomeOf(event: Event): WelcomeRequest[] {
  const data = JSON.parse(event.dataJson);
  const [email, listId, activeSince] = [data.email, data.list_id, data.active_since].map(textOf);
  const happenedAt = timeOf(event);
  if (!email || !listId || !activeSince || !happenedAt) return [];
  const delaySeconds = Number(data.delay_seconds) || 0;
  const isImport = data.is_import === true;
  return [{ email, listId, activeSince, happenedAt, delaySeconds, isImport }];
}

function deletionsOf(events: readonly Event[]): Map<string, string | null> {
  const byTime = events.toSorted((a, b) => msOf(a) - msOf(b));
  return new Map(
    byTime.map((event) => [
      textOf(JSON.parse(event.dataJson).contact?.email),
      timeOf(event) ?? null,
    ]),
  );
}

function msOf({ occurredAt }: Event): number {
  return occurredAt ? timestampMs(occurredAt) : Number.MAX_SAFE_INTEGER;
}
