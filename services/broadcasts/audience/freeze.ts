import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import type { Broadcast } from '../broadcast/broadcast.ts';
import { isUniform, type Plan, type TestSettings } from '../broadcast/row.ts';
import { dealPage } from './deal.ts';
import { type RecipientPage, sliceSize } from './pages.ts';

/** Stores the next page of an audience and counts it. The caller holds the lock of the row. */
export async function storePage(
  em: EntityManager,
  row: Broadcast,
  page: RecipientPage,
  plan: Plan,
) {
  const count = row.enqueued_count + page.emails.length;
  const sample = sampleSize(row.test_settings, count);
  if (isUniform(row)) await cutPage(em, row, page, sliceSize(plan));
  else await dealPage(em, row, page, sample - row.test_phase_recipient_count);
  row.enqueued_count = count;
  row.test_phase_recipient_count = sample;
  row.winner_phase_recipient_count = row.test_settings.enabled ? count - sample : 0;
}

/**
 * Each page adds the share of the whole that it completes: over all pages the sample is as large as
 * over one.
 */
function sampleSize({ enabled, sample_percentage }: TestSettings, count: number): number {
  if (!enabled) return 0;
  return Math.min(count, Math.max(1, Math.floor((count * sample_percentage) / 100)));
}

/**
 * Cuts a page into slices directly. A page as JSON costs the driver and PostgreSQL half as much as
 * an array.
 */
async function cutPage(
  em: EntityManager,
  { workspace_id, id }: Broadcast,
  { emails }: RecipientPage,
  size: number,
): Promise<void> {
  await query(
    em,
    `insert into slices (workspace_id, broadcast_id, number, size, emails)
     select $1, $2,
       (select coalesce(max(number) + 1, 0) from slices where workspace_id = $1 and broadcast_id = $2) + turn,
       count(*), array_agg(email order by place)
     from (
       select email, place, (place - 1) / $3::int as turn
       from json_array_elements_text($4::json) with ordinality as page (email, place)
     ) cut
     group by turn`,
    [workspace_id, id, size, JSON.stringify(emails)],
  );
}
