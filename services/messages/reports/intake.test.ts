import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { until } from '../../../test/stack/until.ts';
import { useService } from '../test/given.ts';
import { smtpPlace } from '../test/given-reports.ts';

const given = useService();

const keep = (workspaceId = smtpPlace.workspaceId) =>
  given.context.intake.keep({
    ...{ place: { ...smtpPlace, workspaceId }, source: 'smtp', types: [], receivedAt: new Date() },
    reports: [{ key: crypto.randomUUID(), isUnreadable: true as const }],
  });

/** Does work while nobody can write requests. */
const whileLocked = (work: () => Promise<void>): Promise<void> =>
  given.store.fork().transactional(async (em) => {
    await query(em, 'lock table inbound_requests in exclusive mode', []);
    await work();
  });
const waiting = `from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
const oneWaits = () =>
  until('a group waits', async () => {
    return (await query(given.store.fork(), `select 1 ${waiting}`, [])).length === 1;
  });

test('while the database does not answer, requests beyond 500 have to come again, and a workspace has its share', async () => {
  let kept: Promise<void>[] = [];
  await whileLocked(async () => {
    kept = Array.from({ length: 250 }, () => keep());
    await expect(keep()).rejects.toThrow('too many reports wait');
    await oneWaits();
    await expect(keep()).rejects.toThrow('too many reports wait');
    const others = Array.from({ length: 250 }, (_, place) => `w${10 + Math.floor(place / 50)}`);
    kept.push(...others.map(keep));
    await expect(keep('w99')).rejects.toThrow('too many reports wait');
  });
  await Promise.all(kept);
  await expect(keep()).resolves.toBeUndefined();
});

test('requests of a group that is not committed are refused, and the next ones are stored', async () => {
  await whileLocked(async () => {
    const group = Promise.allSettled([keep(), keep()]);
    await oneWaits();
    await query(given.store.fork(), `select pg_terminate_backend(pid) ${waiting}`, []);
    expect((await group).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });
  await expect(keep()).resolves.toBeUndefined();
});
