import { expect, test } from '@jest/globals';
import { createLog } from '#lib/log.ts';
import { query } from '#lib/postgres/query.ts';
import { until } from '../../../test/stack/until.ts';
import { openOutcomeStore } from '../store.ts';
import { batchOf, people, resetAfterEach, useService } from '../test/given.ts';
import { Hold } from './hold.ts';

const given = useService();
resetAfterEach(given);

const log = createLog('messages', 'silent');
const run = (text: string) => query(given.store.fork(), text, []);
const start = async (holdsRestored = true) => {
  const hold = new Hold(given.store, { log, holdsRestored });
  await hold.refresh();
  return hold;
};

test('on hold nothing is sent or claimed, and the call says why', async () => {
  const batch = batchOf(people(3));
  await given.holds.placeHold({ reason: 'a trial' });
  expect(await given.sender.sendBatch(batch)).toMatchObject({
    sent: 0,
    notStarted: 3,
    outage: 'on hold: a trial',
  });
  // A process that has not read the hold yet claims nothing either.
  const { sender } = given.newProcess();
  expect(await sender.sendBatch(batch)).toMatchObject({ sent: 0, notStarted: 3 });
  await given.holds.releaseHold({});
  expect(await given.sender.sendBatch(batch)).toMatchObject({ sent: 3 });
});

test('a database of another identity is on hold until somebody releases it', async () => {
  expect((await start()).reason).toBe('');
  expect((await start()).reason).toBe('');
  await run("update database_identity set identity = 'of the server before'");
  expect((await start()).reason).toMatch(/^on hold: the database was restored/);
  // The next process finds the hold, not the change.
  expect((await start()).reason).toMatch(/^on hold: the database was restored/);
  await given.holds.releaseHold({});
  expect((await start()).reason).toBe('');
});

test('many who ask for the hold of a slow database take one of its connections, and other statements get theirs', async () => {
  const own = await openOutcomeStore(given.store.url, 2);
  const hold = new Hold(own, { log, holdsRestored: true });
  await hold.refresh();
  let asked: Promise<unknown> | undefined;
  await given.store.fork().transactional(async (em) => {
    await query(em, 'lock table holds in access exclusive mode', []);
    asked = Promise.all(Array.from({ length: 100 }, () => hold.refresh()));
    const waitingSql = `select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%from holds%'`;
    // Outside of the transaction, which sees what it saw first.
    await until('one waits', async () => (await run(waitingSql)).length > 0);
    // There are two connections, of which the hold has one.
    await query(own.fork(), 'select 1', []);
    await query(em, "insert into holds (reason) values ('on hold: meanwhile')", []);
  });
  await asked;
  expect(hold.reason).toBe('on hold: meanwhile');
  await given.holds.releaseHold({});
  await own.close();
});

test('where failover is routine, a change of identity holds nothing', async () => {
  await start();
  await run("update database_identity set identity = 'of the server before'");
  expect((await start(false)).reason).toBe('');
  expect((await start()).reason).toBe('');
});

test('a second hold does not replace the reason of the first', async () => {
  await given.holds.placeHold({ reason: 'first' });
  await given.holds.placeHold({ reason: 'second' });
  expect(await given.holds.getHold({})).toMatchObject({ reason: 'on hold: first' });
  await given.holds.releaseHold({});
});
