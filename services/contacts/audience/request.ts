import { invalidField } from '#lib/errors/errors.ts';

type AudienceChoice = {
  listIds: readonly string[];
  segmentIds: readonly string[];
  includeUnsubscribed: boolean;
};

/**
 * Without a list there is no membership that could be unsubscribed, and all contacts are nobody's
 * audience.
 */
export function requireAudience({
  listIds,
  segmentIds,
  includeUnsubscribed,
}: AudienceChoice): void {
  if (listIds.length > 0) return;
  if (segmentIds.length === 0) throw invalidField('list_id', 'a list or a segment is required');
  if (includeUnsubscribed) {
    throw invalidField('include_unsubscribed', 'include_unsubscribed needs a list');
  }
}

/** The states of members who belong to an audience. */
export function statusesOf({ includeUnsubscribed }: { includeUnsubscribed: boolean }): string[] {
  return includeUnsubscribed ? ['active', 'unsubscribed'] : ['active'];
}
