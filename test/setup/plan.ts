import { query } from '#lib/postgres/query.ts';
import type { Store } from '#lib/postgres/store.ts';

/** The query plan of a statement. */
export async function planOf(store: Store, text: string): Promise<string> {
  const rows = await query<{ 'QUERY PLAN': string }>(store.fork(), `explain ${text}`, []);
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}
