import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { useService } from '../test/given.ts';
import { dueWorkspacesMax, findDueWorkspaces } from './queue.ts';

const given = useService();

test('a look for due workspaces steps through no more than it gives, and looks come to all', async () => {
  const count = 1_000;
  await given.store.fork().transactional(async (em) => {
    await query(
      em,
      `insert into message_requests (workspace_id, message_id, due_at, request)
       select 'w' || lpad(n::text, 5, '0'), gen_random_uuid(), now() - interval '1 second', ''
       from generate_series(1, ${count}) n`,
      [],
    );
    const steps = async () => {
      const [row] = await query<{ scans: number }>(
        em,
        `select (idx_scan + seq_scan)::int as scans from pg_stat_xact_user_tables where relname = 'message_requests'`,
        [],
      );
      return row!.scans;
    };
    const store = { ...given.store, fork: () => em };
    const before = await steps();
    const seen: string[] = [];
    let after: string | undefined = '';
    while (after !== undefined) {
      const page = await findDueWorkspaces(store, after);
      // Two for each: to the next workspace, and whether it is due.
      if (seen.length === 0) expect((await steps()) - before).toBeLessThan(4 * dueWorkspacesMax);
      seen.push(...page.due);
      after = page.last;
    }
    expect(seen).toHaveLength(count);
    expect(seen).toEqual(seen.toSorted());
    await query(em, `delete from message_requests where workspace_id like 'w0%'`, []);
  });
});
