import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Code } from '@connectrpc/connect';
import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { until } from '../../../test/stack/until.ts';
import { connectionsMax } from '../providers/smtp/pool.ts';
import { Journal } from '../record/journal.ts';
import { unstoredMax } from '../record/recorder.ts';
import { batchOf, people, resetAfterEach, useService } from '../test/given.ts';

const given = useService();
beforeAll(async () => {
  await sql(`
    create table trouble (what text);
    create function refuse() returns trigger language plpgsql as $$
    declare what text;
    begin
      select t.what into what from trouble t limit 1;
      if what = 'deadlock' then raise exception 'deadlock detected' using errcode = '40P01'; end if;
      if what = 'values' and new.contact_email like 'poison%' and new.status_info not like '%could not be stored' then
        raise exception 'invalid byte sequence' using errcode = '22021';
      end if;
      if what = 'always' and new.contact_email like 'stubborn%' then
        raise exception 'check violation' using errcode = '23514';
      end if;
      return new;
    end $$;
    create trigger refuse before update on messages for each row execute function refuse();`);
});
resetAfterEach(given);
afterEach(async () => {
  await sql('truncate trouble');
});

const sql = (text: string) => query<Record<string, unknown>>(given.store.fork(), text, []);
const trouble = (what: string) => sql(`insert into trouble values ('${what}')`);
type Batch = ReturnType<typeof batchOf>;
const record = ({ broadcastId }: Batch) =>
  sql(
    `select contact_email, status, status_info, attempts, unknown from messages
     where broadcast_id = '${broadcastId}' order by contact_email`,
  );
const endLeases = ({ broadcastId }: Batch) =>
  sql(
    `update messages set lease_until = now() - interval '1 second'
     where broadcast_id = '${broadcastId}' and status = 'sending'`,
  );
const isSettled = (batch: Batch) => async () =>
  (await record(batch)).every(({ status }) => status !== 'sending');
/** A call that its caller leaves, since its outcomes cannot be stored. */
function begun(batch: Batch) {
  const leaving = new AbortController();
  const { signal } = leaving;
  const ended = given.sender.sendBatch(batch, { signal }).catch(() => undefined);
  const leave = async () => {
    leaving.abort();
    await ended;
  };
  return { leave };
}
const mailed = () => [...given.sink.received.values()].map(({ count }) => count);

test('outcomes that the database refuses for a while are stored when it takes them again', async () => {
  const batch = batchOf(people(3, 'later'));
  await trouble('deadlock');
  const first = begun(batch);
  await until('all are mailed', async () => mailed().length === 3);
  await first.leave();
  await sql('truncate trouble');
  await until('all are stored', isSettled(batch));
  expect(await given.sender.sendBatch(batch)).toMatchObject({ sent: 3, unknown: 0 });
  expect(mailed()).toEqual([1, 1, 1]);
});

test('a process does not take up what it still has to record, though its lease is over', async () => {
  const batch = batchOf(people(3, 'lapsed'));
  await trouble('deadlock');
  const first = begun(batch);
  await until('all are mailed', async () => mailed().length === 3);
  await first.leave();
  await sql('truncate trouble');
  await sql('alter table messages disable trigger refuse');
  await endLeases(batch);
  await sql('alter table messages enable trigger refuse');
  await given.sender.sendBatch(batch);
  await until('all are stored', isSettled(batch));
  expect(mailed()).toEqual([1, 1, 1]);
});

test('one outcome that cannot be stored is found, and stored without its text', async () => {
  const batch = batchOf([...people(7, 'fine'), 'poison@example.com']);
  await trouble('values');
  expect(await given.sender.sendBatch(batch)).toMatchObject({ sent: 8, unknown: 0 });
  const rows = await record(batch);
  expect(rows.map(({ status }) => status)).toEqual(Array(8).fill('sent'));
  expect(rows.at(-1)).toMatchObject({
    status_info: "the server's answer could not be stored",
    attempts: 1,
  });
});

test('an outcome that the database refuses in every form is kept until it is taken, and holds up no other', async () => {
  const batch = batchOf(['stubborn@example.com', ...people(3, 'others')]);
  await trouble('always');
  const first = begun(batch);
  const left = async () => (await record(batch)).filter(({ status }) => status === 'sending');
  await until('the others are stored', async () => {
    return mailed().length === 4 && (await left()).length === 1;
  });
  await first.leave();
  await sql('truncate trouble');
  await until('all are stored', isSettled(batch), { withinMs: 10_000 });
  expect(await given.sender.sendBatch(batch)).toMatchObject({ sent: 4, unknown: 0 });
  expect(mailed()).toEqual([1, 1, 1, 1]);
});

test('a message that a server still has when the call ends is recorded, and nobody is mailed twice', async () => {
  given.sink.behaviour.latencyMs = 2_500;
  const batch = batchOf(people(1, 'slow'));
  const leaving = new AbortController();
  const first = given.sender.sendBatch(batch, { signal: leaving.signal });
  await until('its body is with the server', async () => mailed().length === 1);
  leaving.abort();
  await expect(first).rejects.toMatchObject({ code: Code.Canceled });
  given.sink.behaviour.latencyMs = 0;
  await endLeases(batch);
  expect(await given.sender.sendBatch(batch)).toMatchObject({ notStarted: 1 });
  await until('all are stored', isSettled(batch));
  expect(await given.sender.sendBatch(batch)).toMatchObject({ sent: 1, unknown: 0 });
  expect(mailed()).toEqual([1]);
});

test('a call frees its place while a server holds its message', async () => {
  given.sink.behaviour.stallAt = 'dot';
  const stuck = Array.from({ length: 4 }, (_, index) => batchOf([`stuck${index}@example.com`]));
  await Promise.all(
    stuck.map((batch) => given.sender.sendBatch(batch, { timeoutMs: 2_000 }).catch(() => {})),
  );
  given.sink.behaviour.stallAt = null;
  expect(await given.sender.sendBatch(batchOf(people(1, 'next')))).toMatchObject({ sent: 1 });
});

test('results are stored while every connection for reads is taken', async () => {
  given.sink.behaviour.latencyMs = 1_000;
  const batch = batchOf(people(1, 'read'));
  const sending = given.sender.sendBatch(batch);
  await until('its body is with the server', async () => mailed().length === 1);
  // Longer than the five seconds after which a statement gives up to wait for a connection.
  const busy = Array.from({ length: 10 }, () => sql('select pg_sleep(6)'));
  expect(await sending).toMatchObject({ sent: 1, unknown: 0 });
  await Promise.all(busy);
});

test('a workspace begins nothing more while 800 of its outcomes wait to be recorded', async () => {
  await trouble('deadlock');
  const batches = Array.from({ length: 8 }, (_, at) => batchOf(people(200, `behind${at}x`)));
  const calls = batches.map((batch) =>
    given.sender.sendBatch(batch, { timeoutMs: 6_000 }).catch(() => undefined),
  );
  await Promise.all(calls);
  const { recorder } = given.context;
  expect(recorder.isBehind('w1')).toBe(true);
  // Messages that the connections had begun at the bound come on top.
  expect(mailed().length).toBeLessThanOrEqual(unstoredMax + connectionsMax);
  await sql('truncate trouble');
  for (const batch of batches) await until('all are stored', isSettled(batch));
  expect(mailed().every((count) => count === 1)).toBe(true);
}, 40_000);

test('no message is begun while the journal cannot be written, and calls may come again later', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'journal-'));
  const owner = crypto.randomUUID();
  const journal = new Journal(folder, owner, 100);
  journal.open('here');
  // A folder in the place of its next file, as a full disk refuses it.
  mkdirSync(join(folder, `${owner}.journal.new`));
  const { sender, context } = given.newProcess({ owner, journal });
  const batch = batchOf(people(20, 'full'));
  expect(await sender.sendBatch(batch)).toMatchObject({ sent: 0, notStarted: 20 });
  const connections = given.sink.connectionsPeak();
  const again = await sender.sendBatch(batch);
  expect(again).toMatchObject({ sent: 0, notStarted: 20 });
  expect(again.retryAfter).toBeDefined();
  expect(given.sink.connectionsPeak()).toBe(connections);
  expect(mailed()).toEqual([]);
  rmSync(join(folder, `${owner}.journal.new`), { recursive: true });
  expect(await sender.sendBatch(batch)).toMatchObject({ sent: 20 });
  context.admission.close();
  journal.close();
  rmSync(folder, { recursive: true });
});

test('claimed messages go out where unused permits cannot be put back', async () => {
  await sql(`
    create function keep_permits() returns trigger language plpgsql as $$
    begin
      if new.updated_at = old.updated_at then raise exception 'no' using errcode = '40P01'; end if;
      return new;
    end $$;
    create trigger keep_permits before update on sending_rates for each row execute function keep_permits();`);
  given.world.skipReasons.set('unused0@example.com', 'unsubscribed');
  const batch = batchOf(people(3, 'unused'));
  const answer = await given.sender.sendBatch(batch).catch((error: unknown) => error);
  await sql('drop trigger keep_permits on sending_rates');
  expect(answer).toMatchObject({ sent: 2, skipped: 1 });
  expect(mailed()).toEqual([1, 1]);
});
