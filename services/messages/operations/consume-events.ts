import { toJson } from '@bufbuild/protobuf';
import { TimestampSchema, timestampMs } from '@bufbuild/protobuf/wkt';
import { ContactDeletedSchema } from '#gen/postrider/events/v1/contact_pb.ts';
import type { Event } from '#gen/postrider/events/v1/events_pb.ts';
import { ConfirmationDueSchema } from '#gen/postrider/events/v1/list_pb.ts';
import { type ConsumedBatch, consumeOnce } from '#lib/events/consume.ts';
import { typeOf } from '#lib/events/contracts.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { Context, Methods } from '../context.ts';
import { type ConfirmationRequest, requestConfirmations } from '../record/confirmations.ts';
import { forgetTwice } from '../record/forget.ts';
import { forgetLifted } from '../suppressions/lifted.ts';

type Handler = (em: EntityManager, workspaceId: string, events: readonly Event[]) => Promise<void>;

/**
 * Events come late and in no order, so each touches only what is not younger than it. Their times
 * and those of messages come from different clocks; one that is ahead of the database's counts as
 * its present. At the same time the deletion wins.
 */
export const handlers: Readonly<Record<string, Handler>> = {
  [typeOf(ConfirmationDueSchema)]: (em, workspaceId, events) =>
    requestConfirmations(em, workspaceId, events.map(requestOf).filter(isWhole)),
  [typeOf(ContactDeletedSchema)]: async (em, workspaceId, events) => {
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
export function consumeBatch({ store }: Context) {
  return (batch: ConsumedBatch): Promise<void> =>
    consumeOnce(store, batch, async (em) => {
      const { workspaceId, events } = batch;
      for (const [type, handle] of Object.entries(handlers)) {
        const some = events.filter((event) => event.type === type);
        if (some.length > 0) await handle(em, workspaceId, some);
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
