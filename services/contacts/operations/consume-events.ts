import type { ServiceImpl } from '@connectrpc/connect';
import type { Event, EventConsumerService } from '#gen/postrider/events/v1/events_pb.ts';
import { canonicalAddress } from '#lib/address.ts';
import { consumeOnce } from '#lib/consume.ts';
import type { Context } from '../context.ts';
import { changeMemberships, type Target } from '../membership.ts';

/** An address that does not exist does so for all lists; a complaint is about one, if it names it. */
const causes = [
  { type: 'email.bounced', cause: 'bounce', target: everyList },
  { type: 'email.complained', cause: 'complaint', target: namedList },
] as const;

export function consumeEvents({
  store,
  now,
}: Context): ServiceImpl<typeof EventConsumerService>['consumeEvents'] {
  return async (request) => {
    await consumeOnce(store, request, async (em) => {
      for (const { type, cause, target } of causes) {
        const targets = request.events.filter((event) => event.type === type).flatMap(target);
        if (targets.length === 0) continue;
        await changeMemberships(em, request.workspaceId, { cause, targets, at: now() });
      }
    });
    return {};
  };
}

function everyList({ data }: Event): Target[] {
  const email = canonicalAddress(text(data?.email));
  return email ? [{ email, listId: '' }] : [];
}

function namedList(event: Event): Target[] {
  return everyList(event).map((target) => ({ ...target, listId: text(event.data?.list_id) }));
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
