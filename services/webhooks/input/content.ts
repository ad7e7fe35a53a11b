import type {
  CreateWebhookSubscriptionRequest,
  UpdateWebhookSubscriptionRequest,
} from '#gen/postrider/webhooks/v1/webhooks_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { goalTypes } from '#lib/goal-types.ts';
import type { Egress } from '#lib/outside/egress.ts';
import type { AudienceReader } from '../matching/members.ts';
import type { CustomEventFilters } from '../subscription.ts';
import { eventTypes } from './event-types.ts';
import { urlFault } from './url.ts';

const callTimeoutMs = 5_000;

type Request = CreateWebhookSubscriptionRequest | UpdateWebhookSubscriptionRequest;

const known: ReadonlySet<string> = new Set(eventTypes);

type Sources = { egress: Egress; audience: AudienceReader };
type Filters = { list_ids: readonly string[]; segment_ids: readonly string[] };

/**
 * The columns of a subscription that a request sets. A field of `settings` counts where the one
 * beside it is empty. Lists and segments that the subscription had may be gone since.
 */
export async function contentOf({ egress, audience }: Sources, request: Request, had?: Filters) {
  const fault = await urlFault(egress, request);
  if (fault) throw invalidField('url', fault);
  const { settings } = request;
  const content = {
    name: request.name,
    url: request.url,
    event_types: checkedTypes(either(request.eventTypes, settings?.eventTypes)),
    custom_event_filters: filtersOf(request.customEventFilters ?? settings?.customEventFilters),
    list_ids: [...new Set(either(request.listIds, settings?.listIds))],
    segment_ids: [...new Set(either(request.segmentIds, settings?.segmentIds))],
  };
  await requireThere(audience, request.workspaceId, {
    list_ids: content.list_ids.filter((id) => !had?.list_ids.includes(id)),
    segment_ids: content.segment_ids.filter((id) => !had?.segment_ids.includes(id)),
  });
  return content;
}

async function requireThere(
  audience: AudienceReader,
  workspaceId: string,
  { list_ids: listIds, segment_ids: segmentIds }: Filters,
): Promise<void> {
  const options = { timeoutMs: callTimeoutMs };
  const [lists, segments] = await Promise.all([
    listIds.length === 0
      ? undefined
      : audience.listMissingLists({ workspaceId, listIds: [...listIds] }, options),
    segmentIds.length === 0
      ? undefined
      : audience.listMissingSegments({ workspaceId, segmentIds: [...segmentIds] }, options),
  ]);
  const list = lists?.listIds[0];
  if (list) throw invalidField('list_ids', `list not found: ${list.slice(0, 50)}`);
  const segment = segments?.segmentIds[0];
  if (segment) throw invalidField('segment_ids', `segment not found: ${segment.slice(0, 50)}`);
}

const either = (top: readonly string[], nested: readonly string[] = []) =>
  top.length > 0 ? top : nested;

/** The types of a request, each once. */
export function checkedTypes(types: readonly string[]): string[] {
  if (types.length === 0) throw invalidField('event_types', 'at least one event type is required');
  const stray = types.find((type) => !known.has(type));
  if (stray !== undefined) {
    throw invalidField('event_types', `invalid event type: ${stray.slice(0, 100)}`);
  }
  return [...new Set(types)];
}

function filtersOf(given: Request['customEventFilters']): CustomEventFilters | null {
  if (!given || given.goalTypes.length + given.eventNames.length === 0) return null;
  const stray = given.goalTypes.find((type) => !goalTypes.includes(type));
  if (stray !== undefined) {
    throw invalidField(
      'custom_event_filters.goal_types',
      `invalid goal type: ${stray.slice(0, 50)}`,
    );
  }
  return { goal_types: [...given.goalTypes], event_names: [...given.eventNames] };
}
