import type { Event } from '#gen/postrider/events/v1/events_pb.ts';
import { hiddenArray } from '#lib/postgres/prepared.ts';
import type { Store } from '#lib/postgres/store.ts';
import { isGatedSql } from '../subscription.ts';
import { hasFilters, needsMembers, passes, subjectOf, type Target } from './filters.ts';
import { type AudienceReader, readMembers } from './members.ts';

/** An event, by its place in the batch, and a subscription or a listener that wants it. */
export type Match = {
  place: number;
  subscriptionId: string;
  /** A listener takes it; nothing is called. */
  isWaiting: boolean;
};

type Endpoint = { url: string; sealed_secret: string; is_gated: boolean };
type NoEndpoint = { url: null; sealed_secret: null; is_gated: null };

/** A subscription with its endpoint as it was read, or a listener, which has none. */
export type WantedTarget = Target & { workspace_id: string } & (Endpoint | NoEndpoint);

type MatchedTarget = Target & Pick<WantedTarget, 'url'>;

/**
 * Finds out which subscriptions and listeners want which events, as all are now. Asks contacts only
 * where a filter needs it.
 */
export async function match(
  audience: AudienceReader,
  { workspaceId, events, targets }: Matching,
): Promise<Match[]> {
  const plain = targets.filter((target) => !hasFilters(target));
  const filtered = targets.filter(hasFilters);
  const matches = pairs(events, plain);
  if (filtered.length === 0) return matches;
  const candidates = pairs(events, filtered);
  return [...matches, ...(await filter(audience, { workspaceId, events, filtered, candidates }))];
}

type Matching = {
  workspaceId: string;
  events: readonly Event[];
  /** All of the workspace that want some type of the events, and maybe others. */
  targets: readonly MatchedTarget[];
};

/** The subscriptions and listeners of some workspaces that want any of some types. */
export function readTargets(
  store: Pick<Store, 'read'>,
  workspaceIds: readonly string[],
  types: readonly string[],
): Promise<WantedTarget[]> {
  return store.read<WantedTarget>(
    `select target.* from unnest(${hiddenArray('$1::text[]')}) asked (workspace_id)
     cross join lateral (
       select workspace_id, id, event_types, custom_event_filters, list_ids, segment_ids, url, sealed_secret, ${isGatedSql} as is_gated
       from subscriptions
       where workspace_id = asked.workspace_id and enabled and event_types && $2::text[]
       union all
       select workspace_id, id, event_types, null, '{}', '{}', null, null, null
       from listeners
       where workspace_id = asked.workspace_id and ended_at is null and event_types && $2::text[]
       offset 0
     ) target`,
    [workspaceIds, types],
  );
}

function pairs(events: readonly Event[], targets: readonly MatchedTarget[]): Match[] {
  return targets.flatMap(({ id, event_types, url }) => {
    const wanted = new Set(event_types);
    const isWaiting = url === null;
    return events.flatMap(({ type }, place) =>
      wanted.has(type) ? [{ place, subscriptionId: id, isWaiting }] : [],
    );
  });
}

type Candidates = {
  workspaceId: string;
  events: readonly Event[];
  filtered: readonly Target[];
  candidates: readonly Match[];
};

async function filter(
  audience: AudienceReader,
  { workspaceId, events, filtered, candidates }: Candidates,
): Promise<Match[]> {
  const places = new Set(candidates.map(({ place }) => place));
  const subjects = new Map(
    [...places].map((place) => {
      const { type, dataJson } = events[place]!;
      return [place, { type, subject: subjectOf(type, dataJson) }];
    }),
  );
  const byId = new Map(filtered.map((target) => [target.id, target]));
  const asked = candidates.flatMap(({ place, subscriptionId }) => {
    const { type, subject } = subjects.get(place)!;
    return needsMembers(type, byId.get(subscriptionId)!) ? [subject.email] : [];
  });
  const members = await readMembers(audience, workspaceId, {
    emails: [...new Set(asked)].filter((email) => email !== ''),
    listIds: [...new Set(filtered.flatMap(({ list_ids }) => list_ids))],
    segmentIds: [...new Set(filtered.flatMap(({ segment_ids }) => segment_ids))],
  });
  return candidates.filter(({ place, subscriptionId }) =>
    passes(byId.get(subscriptionId)!, { ...subjects.get(place)!, members }),
  );
}
