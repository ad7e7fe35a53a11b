import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { givenLists, useService } from '../test/given.ts';
import { clearTimelines } from './clear-timelines.ts';

const given = useService();
const em = () => given.context.store.fork();
const days = (number: number) =>
  new Date(given.clock.now.getTime() - number * 24 * 60 * 60 * 1_000);

async function givenEntries(ageDays: number[], copies = 1): Promise<string> {
  const workspaceId = await givenLists(given);
  await query(
    em(),
    `insert into timeline_entries (workspace_id, email, created_at, kind)
     select $1, 'ann@example.com', at, 'contact.updated'
     from unnest($2::timestamptz[]) as at cross join generate_series(1, $3)`,
    [workspaceId, ageDays.map(days), copies],
  );
  return workspaceId;
}

async function left(workspaceId: string): Promise<number> {
  const [row] = await query<{ count: number }>(
    em(),
    'select count(*)::int as count from timeline_entries where workspace_id = $1',
    [workspaceId],
  );
  return row?.count ?? 0;
}

async function clear(over: object = {}) {
  const warnings: object[] = [];
  const log = { warn: (about: object) => void warnings.push(about) };
  await clearTimelines({ ...given.context, ...over }, log).task();
  return warnings;
}

test('entries are deleted once they are older than their workspace keeps them, and the task comes again', async () => {
  const [mine, theirs] = [await givenEntries([1, 729, 731], 6_000), await givenEntries([729, 731])];
  expect(await clear()).toEqual([]);
  expect([await left(mine), await left(theirs)]).toEqual([12_000, 1]);
  given.settings.timelineRetentionDays = 2;
  expect(await clear()).toEqual([]);
  expect([await left(mine), await left(theirs)]).toEqual([6_000, 0]);
  const jobs = await query<{ soon: boolean }>(
    em(),
    `select run_at < now() + interval '50 minutes' as soon from contacts_jobs.jobs where key = 'clearTimelines'`,
    [],
  );
  expect(jobs).toEqual([{ soon: false }]);
});

test('a workspace whose settings are not answered is left for later, and the others are cleared', async () => {
  delete given.settings.timelineRetentionDays;
  const ids = [await givenEntries([731]), await givenEntries([731]), await givenEntries([731])];
  const getSettings = async ({ workspaceId }: { workspaceId?: string }) => {
    if (workspaceId === ids[1]) throw new Error('down');
    return { settings: {} };
  };
  expect(await clear({ workspaces: { getSettings } })).toMatchObject([{ workspaceId: ids[1] }]);
  expect(await Promise.all(ids.map(left))).toEqual([0, 1, 0]);
});

test('the oldest entries beyond the quota are deleted, and other workspaces keep theirs', async () => {
  const full = await givenEntries([3, 2, 1], 3);
  const other = await givenEntries([3]);
  given.quotas.timeline_entries = 4n;
  expect(await clear()).toEqual([]);
  expect([await left(full), await left(other)]).toEqual([4, 1]);
  const [oldest] = await query<{ at: string }>(
    em(),
    'select min(created_at) as at from timeline_entries where workspace_id = $1',
    [full],
  );
  expect(new Date(oldest?.at ?? 0)).toEqual(days(2));
});
