import type { ErasedTable } from '#lib/postgres/erase.ts';

/**
 * Tables with a workspace's data. Nobody can subscribe, and no segment is built, once the first two
 * are gone.
 */
export const parts: readonly ErasedTable[] = [
  { table: 'lists' },
  { table: 'segments' },
  { table: 'segment_changes' },
  { table: 'segment_members' },
  { table: 'memberships' },
  { table: 'custom_events' },
  { table: 'timeline_entries' },
  { table: 'contacts' },
  { table: 'opt_outs' },
  { table: 'refusals' },
  { table: 'refusal_keys' },
  { table: 'postponed_changes' },
  { table: 'message_interests' },
  { table: 'event_interests' },
  { table: 'idempotency_keys' },
];
