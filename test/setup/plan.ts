import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';

/** How PostgreSQL would run a statement now. */
export async function planOf(store: Store, text: string): Promise<string> {
  const rows = await query<{ 'QUERY PLAN': string }>(store.fork(), `explain ${text}`, []);
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}
