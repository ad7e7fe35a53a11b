import { Code, ConnectError } from '@connectrpc/connect';
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { BroadcastStatus } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { query } from '#lib/postgres/query.ts';
import type { Broadcast } from '../broadcast/broadcast.ts';
import { forgetRecipients } from '../tasks/forget-recipients.ts';
import { draftContent, givenBroadcast, tested, useService } from '../test/given.ts';
import { allSent, fakePeers } from '../test/given-peers.ts';
import { playSteps, runActivity } from '../test/play.ts';
import { finish } from './finish.ts';
import { freezeAudience } from './freeze-audience.ts';
import { pauseBySystem } from './pause-by-system.ts';
import { readPlan } from './read-plan.ts';

const given = useService();
const crowd = Array.from({ length: 35_001 }, (_, n) => `p${String(n).padStart(5, '0')}`);

type Key = { workspaceId: string; id: string };
let sent: string[];
/** Called before each page is read, with the address that it starts after. */
let onPage: (afterEmail: string) => unknown;
beforeEach(() => {
  sent = [];
  onPage = () => {};
  given.neighbours.audience = crowd;
  given.neighbours.listOf = () => 0;
  given.neighbours.sendBatch = (request) => {
    sent.push(...request.emails);
    return allSent(request);
  };
  const { listAudience } = fakePeers(given.neighbours).audience;
  given.context.audience.listAudience = async (request) => {
    await onPage(request.afterEmail ?? '');
    return listAudience(request);
  };
});

const ask = <Row = unknown>(text: string, values: unknown[] = []) =>
  query<Row>(given.context.store.fork(), text, values);
const freeze = (key: Key) => runActivity(() => freezeAudience(given.context)(key));
const look = (key: Key) => readPlan(given.context)(key);
const read = async (key: Key) => (await given.client.getBroadcast(key)).broadcast;
const storedOf = async ({ id }: Key) => {
  const [row] = await ask<{ slices: number; parts: number }>(
    `select (select coalesce(sum(cardinality(emails)), 0)::int from slices where broadcast_id = $1) as slices,
       (select coalesce(sum(cardinality(emails)), 0)::int from audience_parts where broadcast_id = $1) as parts`,
    [id],
  );
  return row;
};

/** Plays to the end; a test is judged at its time. */
async function playToEnd(key: Key): Promise<void> {
  for (;;) {
    const step = await playSteps(given, key);
    if (step.do !== 'wait' || step.untilMs === null) return expect(step).toEqual({ do: 'end' });
    given.clock.now = new Date(step.untilMs);
  }
}

const audiences: [string, { test_settings?: typeof tested; status: Broadcast['status'] }][] = [
  ['one list', { status: 'sending' }],
  ['a test', { status: 'testing', test_settings: { ...tested, sample_percentage: 7 } }],
];

test('the first page is sent while later pages are still to be read', async () => {
  const key = await givenBroadcast(given, { status: 'sending' });
  const pages: string[] = [];
  onPage = (afterEmail) => pages.push(afterEmail);
  expect(await freeze(key)).toEqual({ hasMore: true });
  expect(pages).toEqual(['']);
  const { step, story } = await look(key);
  expect(step).toEqual({ do: 'send', slices: [0, 1], freezes: true });
  expect(story).toMatchObject({ recipients: 10_000, isFreezing: true });
  const begun = await read(key);
  expect(begun).toMatchObject({ enqueuedCount: 10_000 });
  expect(begun?.audienceFrozenAt).toBeUndefined();
  await playToEnd(key);
  expect(sent).toEqual(crowd);
  expect(await read(key)).toMatchObject({
    enqueuedCount: 35_001,
    sentCount: 35_001,
    audienceFrozenAt: expect.anything(),
  });
  expect((await look(key)).story.isFreezing).toBe(false);
});

test('pages are stored half a second apart while mail is sent', async () => {
  const key = await givenBroadcast(given, { status: 'sending' });
  await freeze(key);
  const askedAtMs: Record<string, number> = {};
  onPage = (afterEmail) => {
    askedAtMs[afterEmail] = performance.now();
  };
  const startedAtMs = performance.now();
  expect(await freeze(key)).toEqual({ hasMore: false });
  // The third page is read while the second is stored, and the fourth while the third is.
  expect((askedAtMs[crowd[29_999] ?? ''] ?? 0) - startedAtMs).toBeGreaterThan(490);
  expect(performance.now() - startedAtMs).toBeGreaterThan(980);
});

test('a broadcast whose slices are all sent finishes only once its audience is frozen', async () => {
  const key = await givenBroadcast(given, { status: 'sending' });
  await freeze(key);
  await ask(
    `update slices set answered = size, sent = size, done_at = now() where broadcast_id = $1`,
    [key.id],
  );
  expect((await look(key)).step).toEqual({ do: 'freeze' });
  await finish(given.context)(key);
  expect((await look(key)).story.status).toBe('sending');
  await playToEnd(key);
  expect(sent).toEqual(crowd.slice(10_000));
});

test.each(audiences)(
  'a pause between two pages of %s answers at once, and resume goes on from there',
  async (_, wish) => {
    const key = await givenBroadcast(given, wish);
    const pages: string[] = [];
    onPage = async (afterEmail) => {
      pages.push(afterEmail);
      if (pages.length === 3) await given.client.pauseBroadcast(key);
    };
    await freeze(key);
    expect(await freeze(key)).toEqual({ hasMore: false });
    expect(await read(key)).toMatchObject({ enqueuedCount: 10_000 * (pages.length - 2) });
    expect((await look(key)).step).toEqual({ do: 'wait', untilMs: null });
    await expect(
      given.client.updateBroadcast({
        ...key,
        name: 'New',
        audience: { list: 'news' },
        testSettings: { variations: [{ templateId: 'hello' }] },
      }),
    ).rejects.toMatchObject({ code: Code.FailedPrecondition });
    await given.client.resumeBroadcast(key);
    await playToEnd(key);
    expect(sent.toSorted()).toEqual(crowd);
    expect(new Set(pages).size).toBe(4);
  },
);

test.each(audiences)(
  'what was stored of %s before a crash is neither read nor cut again',
  async (_, wish) => {
    const key = await givenBroadcast(given, wish);
    let calls = 0;
    onPage = () => {
      calls += 1;
      if (calls === 3) throw new ConnectError('down', Code.Unavailable);
    };
    const tries = async () => {
      await freeze(key);
      await freeze(key);
    };
    await expect(tries()).rejects.toThrow('down');
    const stored = await storedOf(key);
    expect((stored?.slices ?? 0) + (stored?.parts ?? 0)).toBe(20_000);
    expect(await read(key)).toMatchObject({ enqueuedCount: 20_000 });
    const pages: string[] = [];
    onPage = (afterEmail) => pages.push(afterEmail);
    await playToEnd(key);
    expect(pages).toEqual([crowd[19_999], crowd[29_999]]);
    expect(sent.toSorted()).toEqual(crowd);
  },
);

test.each(audiences)(
  'two workers that freeze %s at the same time store everybody once',
  async (_, wish) => {
    const key = await givenBroadcast(given, wish);
    for (let turn = 0; turn < 3; turn += 1) await Promise.all([freeze(key), freeze(key)]);
    await playToEnd(key);
    expect(sent.toSorted()).toEqual(crowd);
  },
);

test('contacts that join or leave beyond the last page that was read count, and no others', async () => {
  const key = await givenBroadcast(given, { status: 'sending' });
  await freeze(key);
  given.neighbours.audience = [
    'a-joins',
    ...crowd.filter((email) => email !== crowd[30_000]),
    'z-joins',
  ];
  await playToEnd(key);
  expect(sent).toEqual([...crowd.filter((email) => email !== crowd[30_000]), 'z-joins']);
});

test('a change before the first page is stored has the plan pinned anew', async () => {
  const key = await givenBroadcast(given, { status: 'sending' });
  onPage = async () => {
    onPage = () => {};
    await given.client.pauseBroadcast(key);
    await given.client.resumeBroadcast(key);
  };
  await freeze(key);
  expect(await storedOf(key)).toEqual({ slices: 0, parts: 0 });
  await playToEnd(key);
  expect(sent).toEqual(crowd);
});

test('an outage stops freezing as well', async () => {
  const key = await givenBroadcast(given, { status: 'sending' });
  await freeze(key);
  await pauseBySystem(given.context)(key, 'connection refused', 'outage');
  expect(await freeze(key)).toEqual({ hasMore: false });
  expect(await storedOf(key)).toEqual({ slices: 10_000, parts: 0 });
});

/** Contacts without the list `news`. */
function givenNoList(): void {
  const notFound = async () => {
    throw new ConnectError('List not found', Code.NotFound);
  };
  onPage = notFound;
  given.context.lists = { getList: notFound };
}

test('a list that is deleted before the freeze pauses, and another one may be chosen', async () => {
  const key = await givenBroadcast(given, { status: 'sending', list: 'missing' });
  expect(await freeze(key)).toEqual({ hasMore: false });
  expect(await read(key)).toMatchObject({
    status: BroadcastStatus.PAUSED,
    pauseReason: 'list missing does not exist any more',
  });
  await given.client.updateBroadcast({ ...key, ...draftContent });
  await given.client.resumeBroadcast(key);
  await playToEnd(key);
  expect(sent).toEqual(crowd);
});

test('a list that is deleted in the middle pauses with the reason, and cancel ends the broadcast', async () => {
  const key = await givenBroadcast(given, { status: 'sending' });
  await freeze(key);
  const { lists } = given.context;
  givenNoList();
  expect(await freeze(key)).toEqual({ hasMore: false });
  given.context.lists = lists;
  expect(await read(key)).toMatchObject({
    status: BroadcastStatus.PAUSED,
    pauseReason: 'list news does not exist any more',
  });
  await given.client.cancelBroadcast(key);
  expect(await read(key)).toMatchObject({ status: BroadcastStatus.CANCELLED });
});

test('a test is dealt over many pages as over one', async () => {
  const settings = { ...tested, sample_percentage: 7 };
  const key = await givenBroadcast(given, { status: 'testing', test_settings: settings });
  await freeze(key);
  const arms = await ask<{ arm: number | null; count: number; sizes: number[] }>(
    `select arm, sum(size)::int as count, array_agg(size order by number) as sizes
     from slices where broadcast_id = $1 group by arm order by arm`,
    [key.id],
  );
  expect(arms).toEqual([
    { arm: 0, count: 1_225, sizes: [1_225] },
    { arm: 1, count: 1_225, sizes: [1_225] },
    { arm: null, count: 32_551, sizes: [...Array(6).fill(5_000), 2_551] },
  ]);
  expect(await read(key)).toMatchObject({
    testPhaseRecipientCount: 2_450,
    winnerPhaseRecipientCount: 32_551,
  });
  expect(await storedOf(key)).toEqual({ slices: 35_001, parts: 0 });
});

test('a winner that is chosen while a test is dealt goes to everybody', async () => {
  const key = await givenBroadcast(given, { status: 'testing', test_settings: tested });
  const templates = new Set<string | undefined>();
  given.neighbours.sendBatch = (request) => {
    templates.add(request.plan?.templateId);
    sent.push(...request.emails);
    return allSent(request);
  };
  onPage = async (afterEmail) => {
    if (afterEmail !== crowd[9_999]) return;
    // A step that finds the row changed asks for its page again.
    onPage = () => {};
    await given.client.selectWinner({ ...key, templateId: 'b' });
  };
  await playToEnd(key);
  expect(sent.toSorted()).toEqual(crowd);
  expect([...templates]).toEqual(['b']);
});

test('nothing of a test is sent before all of it is dealt', async () => {
  const settings = { ...tested, sample_percentage: 7 };
  const key = await givenBroadcast(given, { status: 'testing', test_settings: settings });
  await ask(`insert into faults values (10000)`);
  await expect(freeze(key)).rejects.toThrow('killed');
  expect((await storedOf(key))?.slices).toBeGreaterThan(0);
  expect((await look(key)).step).toEqual({ do: 'freeze' });
  await ask('delete from faults');
  await playToEnd(key);
  expect(sent.toSorted()).toEqual(crowd);
});

/** The recipients that each statement stored, and a fault once so many are in slices. */
beforeAll(async () => {
  await ask('create table stored (recipients integer not null)');
  await ask('create table faults (after integer not null)');
  await ask(`
    create function note_stored() returns trigger language plpgsql as $$
    begin
      if exists (select from faults where after <= (
        select sum(size) from slices s where (s.workspace_id, s.broadcast_id) in (select workspace_id, broadcast_id from fresh)
      ) - (select coalesce(sum(size), 0) from fresh)) then
        raise exception 'killed';
      end if;
      insert into stored select coalesce(sum(size), 0) from fresh;
      return null;
    end $$`);
  for (const table of ['slices', 'audience_parts']) {
    await ask(`
      create trigger note_stored after insert on ${table} referencing new table as fresh
      for each statement execute function note_stored()`);
  }
});
beforeEach(() => ask<unknown>('truncate stored'));

test('no statement stores more than two pages, however large the audience', async () => {
  given.neighbours.audience = Array.from(
    { length: 120_000 },
    (_, n) => `p${String(n).padStart(6, '0')}`,
  );
  given.neighbours.listOf = (email) => Number(email.at(-1)) % 3;
  const key = await givenBroadcast(given, {
    status: 'testing',
    test_settings: { ...tested, sample_percentage: 30 },
    further_lists: ['offers', 'tips'],
  });
  while ((await freeze(key)).hasMore);
  expect(await storedOf(key)).toEqual({ slices: 120_000, parts: 0 });
  const [row] = await ask<{ most: number; all: number }>(
    'select max(recipients) as most, sum(recipients)::int as all from stored',
  );
  expect(row?.all).toBe(240_000);
  expect(row?.most).toBeLessThan(20_000);
});

test.each(['cancel', 'delete'] as const)(
  '%s in the middle leaves no address behind',
  async (action) => {
    const key = await givenBroadcast(given, {
      status: 'testing',
      test_settings: { ...tested, sample_percentage: 7 },
    });
    const act = async () => {
      if (action === 'delete') await given.client.pauseBroadcast(key);
      await given.client[`${action}Broadcast`](key);
    };
    let acted: Promise<unknown> | undefined;
    onPage = (afterEmail) => {
      if (afterEmail !== crowd[19_999]) return;
      onPage = () => {};
      acted = act();
      return acted;
    };
    expect(await freeze(key)).toEqual({ hasMore: false });
    // The activity stops when the row is paused, which is before it is deleted.
    await acted;
    expect(await storedOf(key)).toEqual({ slices: 0, parts: expect.any(Number) });
    const jobs = await ask<{ payload: Key }>(
      `select payload from broadcasts_jobs._private_jobs job
     join broadcasts_jobs._private_tasks task on task.id = job.task_id
     where task.identifier = 'forgetRecipients' and payload ->> 'id' = $1`,
      [key.id],
    );
    for (const { payload } of jobs) await forgetRecipients(given.context)(payload);
    expect(await storedOf(key)).toEqual({ slices: 0, parts: 0 });
    expect(
      await ask('select from broadcasts where id = $1 and freeze_after is not null', [key.id]),
    ).toEqual([]);
  },
);
