import type {
  CreateWebhookSubscriptionRequest,
  UpdateWebhookSubscriptionRequest,
} from '#gen/postrider/webhooks/v1/webhooks_pb.ts';
import type { Egress } from '#lib/outside/egress.ts';
import { invalidField } from '#lib/rpc/errors.ts';
import { eventTypes } from '../event-types.ts';
import type { CustomEventFilters } from '../subscription.ts';
import { urlFault } from './url.ts';

type Request = CreateWebhookSubscriptionRequest | UpdateWebhookSubscriptionRequest;

const known: ReadonlySet<string> = new Set(eventTypes);

/** The columns of a subscription that a request sets. A field of `settings` counts where the one beside it is empty. */
export async function contentOf(egress: Egress, request: Request) {
  const fault = await urlFault(egress, request.url);
  if (fault) throw invalidField('url', fault);
  const { settings } = request;
  return {
    name: request.name,
    url: request.url,
    event_types: checkedTypes(either(request.eventTypes, settings?.eventTypes)),
    custom_event_filters: filtersOf(request.customEventFilters ?? settings?.customEventFilters),
    list_ids: [...new Set(either(request.listIds, settings?.listIds))],
    segment_ids: [...new Set(either(request.segmentIds, settings?.segmentIds))],
  };
}

const either = (top: readonly string[], nested: readonly string[] = []) =>
  top.length > 0 ? top : nested;

function checkedTypes(types: readonly string[]): string[] {
  if (types.length === 0) throw invalidField('event_types', 'at least one event type is required');
  const stray = types.find((type) => !known.has(type));
  if (stray !== undefined) {
    throw invalidField('event_types', `invalid event type: ${stray.slice(0, 100)}`);
  }
  return [...new Set(types)];
}

function filtersOf(given: Request['customEventFilters']): CustomEventFilters | null {
  if (!given || given.goalTypes.length + given.eventNames.length === 0) return null;
  return { goal_types: [...given.goalTypes], event_names: [...given.eventNames] };
}
