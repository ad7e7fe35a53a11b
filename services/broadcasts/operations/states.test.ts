import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { BroadcastStatus } from '#gen/postrider/broadcasts/v1/broadcasts_pb.ts';
import { query } from '#lib/postgres/query.ts';
import { pauseBySystem } from '../activities/pause-by-system.ts';
import { readPlan } from '../activities/read-plan.ts';
import { type StoredStatus, statuses } from '../broadcast/row.ts';
import { workflowIdOf } from '../lifecycle/run.ts';
import { givenBroadcast, tested, useService, wakes } from '../test/given.ts';

const given = useService();

const content = {
  name: 'New name',
  audience: { list: 'news' },
  testSettings: { variations: [{ templateId: 'hello' }] },
};
type Key = { workspaceId: string; id: string };
const actions = {
  update: (key: Key) => given.client.updateBroadcast({ ...key, ...content }),
  schedule: (key: Key) => given.client.scheduleBroadcast({ ...key, sendNow: true }),
  pause: (key: Key) => given.client.pauseBroadcast(key),
  resume: (key: Key) => given.client.resumeBroadcast(key),
  cancel: (key: Key) => given.client.cancelBroadcast(key),
  delete: (key: Key) => given.client.deleteBroadcast(key),
  'select a winner of': (key: Key) => given.client.selectWinner({ ...key, templateId: 'b' }),
};
type Action = keyof typeof actions;

/**
 * The state table: the state after each action, by the state before; all other actions are refused.
 */
const table: Record<Action, Partial<Record<StoredStatus, StoredStatus | 'deleted'>>> = {
  update: { draft: 'draft', scheduled: 'scheduled', paused: 'paused' },
  schedule: { draft: 'sending' },
  pause: {
    scheduled: 'paused',
    sending: 'paused',
    testing: 'paused',
    test_completed: 'paused',
    winner_selected: 'paused',
  },
  resume: { paused: 'sending' },
  cancel: {
    scheduled: 'cancelled',
    sending: 'cancelled',
    testing: 'cancelled',
    test_completed: 'cancelled',
    winner_selected: 'cancelled',
    paused: 'cancelled',
  },
  'select a winner of': { testing: 'winner_selected', test_completed: 'winner_selected' },
  delete: {
    draft: 'deleted',
    scheduled: 'deleted',
    paused: 'deleted',
    sent: 'deleted',
    cancelled: 'deleted',
    failed: 'deleted',
  },
};
const cells = (Object.keys(table) as Action[]).flatMap((action) =>
  statuses.map((status) => [action, status, table[action][status] ?? 'refused'] as const),
);

test.each(cells)('%s of a %s broadcast: %s', async (action, status, outcome) => {
  const key = await givenBroadcast(given, {
    status,
    ...(action === 'select a winner of' ? { test_settings: tested } : {}),
    ...(status === 'paused' ? { paused_from: 'sending' as const } : {}),
  });
  if (outcome === 'refused') {
    await expect(actions[action](key)).rejects.toMatchObject({
      code: Code.FailedPrecondition,
      rawMessage: `cannot ${action} a ${status} broadcast`,
    });
    expect(await wakes(given)).not.toContain(workflowIdOf(key));
    return;
  }
  await actions[action](key);
  if (outcome === 'deleted') {
    await expect(given.client.getBroadcast(key)).rejects.toMatchObject({ code: Code.NotFound });
    return;
  }
  const { broadcast } = await given.client.getBroadcast(key);
  expect(broadcast?.status).toBe(
    BroadcastStatus[outcome.toUpperCase() as keyof typeof BroadcastStatus],
  );
  if (status !== 'draft' || action === 'schedule')
    expect(await wakes(given)).toContain(workflowIdOf(key));
});

test.each(Object.keys(actions) as Action[])(
  '%s of an unknown broadcast is NOT_FOUND',
  async (action) => {
    await expect(actions[action]({ workspaceId: 'acme', id: 'unknown' })).rejects.toMatchObject({
      code: Code.NotFound,
      rawMessage: 'Broadcast not found',
    });
  },
);

test('a broadcast of another workspace is not found', async () => {
  const { id } = await givenBroadcast(given);
  const foreign = given.client.getBroadcast({ workspaceId: 'other', id });
  await expect(foreign).rejects.toMatchObject({ code: Code.NotFound });
});

test('a broadcast that had begun is not resumed after a pause of 60 days', async () => {
  const paused = (days: number, frozen_at?: Date) => {
    const paused_at = new Date(given.clock.now.getTime() - days * 24 * 60 * 60_000);
    const wish = { status: 'paused', paused_from: 'sending', paused_at } as const;
    return givenBroadcast(given, { ...wish, ...(frozen_at ? { frozen_at } : {}) });
  };
  const begun = given.clock.now;
  await expect(actions.resume(await paused(61, begun))).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage: 'cannot resume a broadcast that was paused for 60 days',
  });
  await actions.resume(await paused(59, begun));
  await actions.resume(await paused(61));
});

test('resume keeps a start time in the future', async () => {
  const starts_at = new Date(given.clock.now.getTime() + 60_000);
  const key = await givenBroadcast(given, {
    status: 'paused',
    paused_from: 'scheduled',
    starts_at,
  });
  await given.client.resumeBroadcast(key);
  const { broadcast } = await given.client.getBroadcast(key);
  expect(broadcast?.status).toBe(BroadcastStatus.SCHEDULED);
});

test('update refuses a paused broadcast whose audience is frozen', async () => {
  const frozen = { status: 'paused', paused_from: 'sending', frozen_at: given.clock.now } as const;
  const refused = actions.update(await givenBroadcast(given, frozen));
  await expect(refused).rejects.toMatchObject({ code: Code.FailedPrecondition });
});

test('delete refuses a paused broadcast of which something was sent', async () => {
  const key = await givenBroadcast(given, { status: 'paused', paused_from: 'sending' });
  await query(
    given.context.store.fork(),
    `insert into slices (workspace_id, broadcast_id, number, size, answered, sent)
     values ($1, $2, 0, 10, 5, 5)`,
    [key.workspaceId, key.id],
  );
  await expect(actions.delete(key)).rejects.toMatchObject({ code: Code.FailedPrecondition });
});

test.each(['paused', 'cancelled'] as const)(
  'delete refuses a %s broadcast while messages may be in flight, and not when they are counted',
  async (status) => {
    const key = await givenBroadcast(given, { status });
    const sql = (text: string) =>
      query(given.context.store.fork(), text, [key.workspaceId, key.id]);
    await sql(
      `insert into slices (workspace_id, broadcast_id, number, size, settle_at)
       values ($1, $2, 0, 10, now())`,
    );
    await expect(actions.delete(key)).rejects.toMatchObject({ code: Code.FailedPrecondition });
    await sql('update slices set settle_at = null where workspace_id = $1 and broadcast_id = $2');
    await actions.delete(key);
  },
);

test("pause takes over the system's pause, which is not lifted by itself any more", async () => {
  const key = await givenBroadcast(given, { status: 'sending' });
  await pauseBySystem(given.context)(key, 'connection refused', 'outage');
  await actions.pause(key);
  const { step, story } = await readPlan(given.context)(key);
  expect(step).toEqual({ do: 'wait', untilMs: null });
  expect(story).toMatchObject({ pausedBy: 'person', reason: 'connection refused' });
  await expect(actions.pause(key)).rejects.toMatchObject({ code: Code.FailedPrecondition });
  await actions.resume(key);
  const { broadcast } = await given.client.getBroadcast(key);
  expect(broadcast?.status).toBe(BroadcastStatus.SENDING);
});

test('of two concurrent pauses one succeeds, and the other is refused with the state', async () => {
  const key = await givenBroadcast(given, { status: 'sending' });
  const answers = await Promise.allSettled([actions.pause(key), actions.pause(key)]);
  expect(answers.map((answer) => answer.status).sort()).toEqual(['fulfilled', 'rejected']);
});
