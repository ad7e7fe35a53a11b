import { expect, test } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { erase } from '#lib/postgres/erase.ts';
import { query } from '#lib/postgres/query.ts';
import { changingCalls } from '../../../test/setup/changing-calls.ts';
import { type Activities, createActivities } from '../activities/all.ts';
import type { BroadcastKey } from '../broadcast/broadcast.ts';
import { erasedTables } from '../kept-data.ts';
import { services } from '../service.ts';
import { givenBroadcast, tested, useService, wakes } from '../test/given.ts';

// This service consumes no events. Calls of workspaces, and activities of a workflow that was slow
// or repeated, may arrive late.

const given = useService();

const rowOf = async ({ workspaceId, id }: BroadcastKey) => {
  const [row] = await query<{ row: object }>(
    given.context.store.fork(),
    'select to_json(b) as row from broadcasts b where workspace_id = $1 and id = $2',
    [workspaceId, id],
  );
  return row?.row;
};

/** For each call what comes late, and what must be so afterwards. */
const cases: Record<string, () => Promise<void>> = {
  async eraseWorkspace() {
    const [doomed, kept] = [await givenBroadcast(given), await givenBroadcast(given)];
    await query(
      given.context.store.fork(),
      "update broadcasts set workspace_id = 'doomed' where id = $1",
      [doomed.id],
    );
    const before = await rowOf(kept);
    const { store } = given.context;
    for (const erased of [1, 0]) {
      expect(await erase(store, 'doomed', erasedTables(store))).toEqual({ erased, left: [] });
    }
    expect(await rowOf(kept)).toEqual(before);
  },
};

test('every call by which other services change something has a case', () => {
  expect(Object.keys(cases).toSorted()).toEqual(changingCalls(services));
});

test.each(Object.keys(cases))('newer state stands when %s comes late', (call) => cases[call]?.());

/** What follows the key in the call of each activity. */
const activities: Record<keyof Activities, unknown[]> = {
  readPlan: [],
  begin: [],
  freezeAudience: [],
  completeTest: [],
  pickWinner: [],
  chooseWinner: ['a'],
  sendSlice: [],
  settle: [],
  finish: [],
  pauseBySystem: ['the mail server is away', 'outage'],
  pauseForUnrendered: [],
  resumeAfterOutage: [],
  failBroadcast: ['its template is gone'],
  operate: ['resume'],
  cancelIfLive: [],
};

test('every activity has a case', () => {
  expect(Object.keys(activities).toSorted()).toEqual(
    Object.keys(createActivities(given.context)).toSorted(),
  );
});

const over = ['cancelled', 'sent', 'failed'] as const;
test.each(Object.keys(activities).flatMap((name) => over.map((status) => [name, status] as const)))(
  'the activity %s changes nothing when it comes after the broadcast was %s',
  async (name, status) => {
    const frozen_at = given.clock.now;
    const key = await givenBroadcast(given, { status, frozen_at, test_settings: tested });
    const before = await rowOf(key);
    const activity: unknown = Reflect.get(createActivities(given.context), name);
    if (typeof activity !== 'function') throw new Error(`no activity ${name}`);
    const first = name === 'sendSlice' ? { ...key, slice: 0 } : key;
    const late = new MockActivityEnvironment().run(async () =>
      activity(first, ...(activities[name as keyof Activities] ?? [])),
    );
    await Promise.allSettled([late]);
    expect(await rowOf(key)).toEqual(before);
    expect(await wakes(given)).not.toContainEqual(expect.stringContaining(key.id));
  },
);
