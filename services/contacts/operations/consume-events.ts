import { toJson } from '@bufbuild/protobuf';
import { TimestampSchema } from '@bufbuild/protobuf/wkt';
import { EmailBouncedSchema, EmailComplainedSchema } from '#gen/postrider/events/v1/email_pb.ts';
import type { Event } from '#gen/postrider/events/v1/events_pb.ts';
import { canonicalAddress } from '#lib/address.ts';
import { type ConsumedBatch, consumeOnce } from '#lib/events/consume.ts';
import { typeOf } from '#lib/events/contracts.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { touches, touchStep } from '../changes/touch.ts';
import {
  changeMemberships,
  lockContacts,
  type MembershipTarget,
} from '../consent/membership-queries.ts';
import type { Context, Methods } from '../context.ts';
import { messageKinds } from '../segments/tree/tree.ts';

/**
 * A bounce applies to all lists of an address; a complaint to the list that it names, if any.
 * Events may come late: a membership that has changed since stays as it is.
 */
const causes = [
  { type: typeOf(EmailBouncedSchema), cause: 'bounce', target: everyList },
  { type: typeOf(EmailComplainedSchema), cause: 'complaint', target: namedList },
] as const;

export function consumeEvents(context: Context): Methods['consumeEvents'] {
  const consume = consumeBatch(context);
  return async (request) => {
    await consume(request);
    return {};
  };
}

/** Applies one batch. Of a group each has a transaction of its own, since it locks contacts. */
export function consumeBatch({ store, outbox, now }: Context) {
  return (batch: ConsumedBatch): Promise<void> =>
    consumeOnce(store, batch, async (em) => {
      const { workspaceId, events } = batch;
      const emails = events.flatMap(everyList).map(({ email }) => email);
      // Locked at once and first, so that parallel batches can't deadlock between two causes.
      await lockContacts(em, workspaceId, emails);
      for (const { type, cause, target } of causes) {
        const targets = events.filter((event) => event.type === type).flatMap(target);
        if (targets.length === 0) continue;
        await changeMemberships({ em, outbox, workspaceId }, { cause, targets, at: now() });
      }
      await touchMessages(em, batch);
    });
}

const kindOfType = new Map([...messageKinds].map(([kind, type]) => [type, kind]));

/** The types of events that change something here. */
export const handledTypes: ReadonlySet<string> = new Set([
  ...causes.map(({ type }) => type),
  ...kindOfType.keys(),
]);

/** Has segments that count messages look at their recipients again. */
async function touchMessages(
  em: EntityManager,
  { workspaceId, events }: ConsumedBatch,
): Promise<void> {
  const rows = events.flatMap((event) => {
    const kind = kindOfType.get(event.type);
    return kind ? everyList(event).map(({ email }) => ({ email, key: touches.message(kind) })) : [];
  });
  if (rows.length === 0) return;
  await query(
    em,
    `with ${touchStep({
      workspace: '$1',
      rows: 'select email, array[key] as touched from unnest($2::text[], $3::text[]) as row (email, key)',
    })} select true`,
    [workspaceId, rows.map(({ email }) => email), rows.map(({ key }) => key)],
  );
}

function everyList(event: Event): MembershipTarget[] {
  const email = canonicalAddress(text(event, 'email'));
  if (!email) return [];
  const { occurredAt } = event;
  const target = { email, listId: '' };
  return [occurredAt ? { ...target, happenedAt: toJson(TimestampSchema, occurredAt) } : target];
}

function namedList(event: Event): MembershipTarget[] {
  return everyList(event).map((target) => ({ ...target, listId: text(event, 'list_id') }));
}

function text({ dataJson }: Event, name: string): string {
  const value: unknown = Reflect.get(JSON.parse(dataJson), name);
  return typeof value === 'string' ? value : '';
}
