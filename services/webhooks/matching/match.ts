import type { Event } from '#gen/postrider/events/v1/events_pb.ts';
import { hiddenArray } from '#lib/postgres/prepared.ts';
import type { Store } from '#lib/postgres/store.ts';
import { isGatedSql } from '../subscription.ts';
import { hasFilters, type Listener, needsMembers, passes, subjectOf } from './filters.ts';
import { type AudienceReader, readMembers } from './members.ts';

/** An event, by its place in the batch, and a subscription that wants it. */
export type Match = { place: number; subscriptionId: string };

/** A subscription with a type that it wants, and its endpoint as it was read. */
export type WantedListener = Listener & {
  workspace_id: string;
  url: string;
  sealed_secret: string;
  is_gated: boolean;
};

/**
 * Finds out which subscriptions want which events, as both are now. Asks contacts only where a
 * filter needs it.
 */
export async function match(
  audience: AudienceReader,
  { workspaceId, events, listeners }: Matching,
): Promise<Match[]> {
  const plain = listeners.filter((listener) => !hasFilters(listener));
  const filtered = listeners.filter(hasFilters);
  const matches = pairs(events, plain);
  if (filtered.length === 0) return matches;
  const candidates = pairs(events, filtered);
  return [...matches, ...(await filter(audience, { workspaceId, events, filtered, candidates }))];
}

type Matching = {
  workspaceId: string;
  events: readonly Event[];
  /** The subscriptions of the workspace that want some type of the events, and maybe others. */
  listeners: readonly Listener[];
};

/** The subscriptions of some workspaces that want any of some types. */
export function readListeners(
  store: Pick<Store, 'read'>,
  workspaceIds: readonly string[],
  types: readonly string[],
): Promise<WantedListener[]> {
  return store.read<WantedListener>(
    `select listener.* from unnest(${hiddenArray('$1::text[]')}) asked (workspace_id)
     cross join lateral (
       select workspace_id, id, event_types, custom_event_filters, list_ids, segment_ids, url, sealed_secret, ${isGatedSql} as is_gated
       from subscriptions
       where workspace_id = asked.workspace_id and enabled and event_types && $2::text[]
       offset 0
     ) listener`,
    [workspaceIds, types],
  );
}

function pairs(events: readonly Event[], listeners: readonly Listener[]): Match[] {
  return listeners.flatMap(({ id, event_types }) => {
    const wanted = new Set(event_types);
    return events.flatMap(({ type }, place) =>
      wanted.has(type) ? [{ place, subscriptionId: id }] : [],
    );
  });
}

type Candidates = {
  workspaceId: string;
  events: readonly Event[];
  filtered: readonly Listener[];
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
  const byId = new Map(filtered.map((listener) => [listener.id, listener]));
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
