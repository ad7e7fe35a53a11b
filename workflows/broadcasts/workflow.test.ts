import { expect, test } from '@jest/globals';
import { Context } from '@temporalio/activity';
import type { WorkflowHandleWithStartDetails } from '@temporalio/client';
import type { Activities } from '../../services/broadcasts/activities/all.ts';
import type { Look, Story } from '../../services/broadcasts/activities/read-plan.ts';
import type { Step } from '../../services/broadcasts/lifecycle/next-step.ts';
import { useWorkflows } from '../../test/setup/temporal.ts';
import type { broadcastLifecycle } from './workflow.ts';

const { opened, play: playIn } = useWorkflows('broadcasts');

const story: Story = {
  status: 'sending',
  recipients: 10,
  isFreezing: false,
  counts: { sent: 0, failed: 0, skipped: 0, deferred: 0, unknown: 0 },
  startsAt: null,
  pausedBy: null,
  retriesAt: null,
  reason: null,
  winner: null,
};
const key = { workspaceId: 'acme', id: 'b1' };
type Handle = WorkflowHandleWithStartDetails<typeof broadcastLifecycle>;
type Fakes = Partial<Activities>;

/** Activities that record their calls; the test decides the plan. */
function given(plan: (asked: string[]) => Step, fakes: (asked: string[]) => Fakes = () => ({})) {
  const asked: string[] = [];
  const note = (name: string) => async () => {
    asked.push(name);
  };
  const activities: Fakes = {
    readPlan: async (): Promise<Look> => ({ step: plan(asked), story }),
    begin: note('begin'),
    freezeAudience: async () => {
      asked.push('freeze');
      return { hasMore: false };
    },
    sendSlice: async ({ slice }) => {
      asked.push(`send ${slice}`);
      return { outage: '' };
    },
    completeTest: note('complete test'),
    pickWinner: note('pick winner'),
    finish: note('finish'),
    resumeAfterOutage: note('resume'),
    pauseForUnrendered: note('pause for unrendered'),
    pauseBySystem: async (_, reason, cause, endsAtMs) => {
      asked.push(`pause: ${cause}: ${reason}${endsAtMs ? ` until ${endsAtMs}` : ''}`);
    },
    failBroadcast: async (_, reason) => {
      asked.push(`fail: ${reason}`);
    },
    operate: async (_, action) => {
      asked.push(`operate ${action}`);
      return 'paused';
    },
    cancelIfLive: note('cancel'),
    ...fakes(asked),
  };
  return { asked, activities };
}

function play(activities: Fakes, during?: (handle: Handle) => Promise<unknown>): Promise<Handle> {
  return playIn<typeof broadcastLifecycle>(
    { name: 'broadcastLifecycle', args: [key], activities },
    during,
  );
}

/** Steps in order, each taken once. */
function script(...steps: Step[]) {
  let next = 0;
  return () => steps[Math.min(next++, steps.length - 1)] ?? { do: 'end' };
}
const end: Step = { do: 'end' };

async function detailsOf(handle: Handle): Promise<string> {
  const metadata = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
  return metadata.currentDetails;
}

async function untilWaiting(handle: Handle): Promise<void> {
  while (!(await detailsOf(handle)).includes('waits for a change')) {
    await new Promise((done) => setTimeout(done, 20));
  }
}

test('a broadcast waits for its start, freezes, sends its slices and finishes', async () => {
  const untilMs = (await opened.env.currentTimeMs()) + 30 * 24 * 3_600_000;
  let now = 0;
  const { asked, activities } = given(
    script(
      { do: 'wait', untilMs },
      { do: 'wait', untilMs: untilMs },
      { do: 'begin' },
      { do: 'freeze' },
      { do: 'send', slices: [0, 1] },
      { do: 'finish' },
      end,
    ),
    (list) => ({
      begin: async () => {
        list.push('begin');
        now = await opened.env.currentTimeMs();
      },
    }),
  );
  await play(activities);
  expect(asked.toSorted()).toEqual(['begin', 'finish', 'freeze', 'send 0', 'send 1']);
  expect(now).toBeGreaterThan(untilMs - 30 * 24 * 3_600_000);
});

test('the slices of a step are sent in turn, two at a time', async () => {
  let open = 0;
  let openMax = 0;
  const { asked, activities } = given(
    script({ do: 'send', slices: [0, 1, 2, 3, 4] }, { do: 'finish' }, end),
    (list) => ({
      sendSlice: async ({ slice }) => {
        open += 1;
        openMax = Math.max(openMax, open);
        await new Promise((done) => setTimeout(done, 50));
        open -= 1;
        list.push(`send ${slice}`);
        return { outage: '' };
      },
    }),
  );
  await play(activities);
  expect(asked.toSorted()).toEqual(['finish', ...[0, 1, 2, 3, 4].map((each) => `send ${each}`)]);
  expect(asked.at(-1)).toBe('finish');
  expect(openMax).toBe(2);
});

test.each([
  ['has stopped before its end', { outage: '', isUnfinished: true } as const],
  ['has met an outage', { outage: 'connection refused' }],
])('no further slice of a step is begun once one %s', async (_, result) => {
  const begun: number[] = [];
  const { activities } = given(script({ do: 'send', slices: [0, 1, 2, 3] }, end), () => ({
    sendSlice: async ({ slice }) => {
      begun.push(slice);
      return result;
    },
  }));
  await play(activities);
  expect(begun.toSorted()).toEqual([0, 1]);
});

test('no further slice of a step is begun once the row has changed', async () => {
  const begun: number[] = [];
  const toldAll = Promise.withResolvers<void>();
  const { activities } = given(script({ do: 'send', slices: [0, 1, 2, 3] }, end), () => ({
    sendSlice: async ({ slice }) => {
      begun.push(slice);
      await toldAll.promise;
      return { outage: '' };
    },
  }));
  await play(activities, async (handle) => {
    while (begun.length < 2) await new Promise((done) => setTimeout(done, 20));
    await handle.signal('changed');
    toldAll.resolve();
  });
  expect(begun.toSorted()).toEqual([0, 1]);
});

test('a history stays below a thousand events, however many slices there are', async () => {
  const runIds = new Set<string>();
  let sent = 0;
  const { activities } = given(
    () => (sent < 200 ? { do: 'send', slices: [sent] } : end),
    () => ({
      sendSlice: async () => {
        runIds.add(Context.current().info.workflowExecution?.runId ?? '');
        sent += 1;
        return { outage: '' };
      },
    }),
  );
  const handle = await play(activities);
  const lengths = await Promise.all(
    [...runIds].map(async (runId) => {
      const past = opened.env.client.workflow.getHandle(handle.workflowId, runId);
      return (await past.describe()).historyLength;
    }),
  );
  expect(sent).toBe(200);
  expect(Math.max(...lengths)).toBeLessThan(1_000);
}, 60_000);

test('a test sends its sample, waits for the deadline, picks the winner and sends the rest', async () => {
  const startedAtMs = await opened.env.currentTimeMs();
  const untilMs = startedAtMs + 4 * 3_600_000;
  const { asked, activities } = given((list) => {
    if (!list.includes('send 0')) return { do: 'send', slices: [0, 1] };
    if (!list.includes('complete test')) return { do: 'completeTest' };
    if (!list.includes('pick winner')) {
      return waits.shift() ?? { do: 'pickWinner' };
    }
    if (!list.includes('send 2')) return { do: 'send', slices: [2] };
    return list.includes('finish') ? end : { do: 'finish' };
  });
  const waits: Step[] = Array.from({ length: 4 }, () => ({ do: 'wait', untilMs }));
  await play(activities);
  expect(asked.slice(2)).toEqual(['complete test', 'pick winner', 'send 2', 'finish']);
  expect((await opened.env.currentTimeMs()) - startedAtMs).toBeGreaterThanOrEqual(4 * 3_600_000);
});

test('an update selects a winner and answers the new status', async () => {
  let isChosen = false;
  const { asked, activities } = given(
    () => (isChosen ? end : { do: 'wait', untilMs: null }),
    (list) => ({
      chooseWinner: async (_, templateId) => {
        list.push(`choose ${templateId}`);
        isChosen = true;
        return 'winner_selected';
      },
    }),
  );
  await play(activities, async (handle) => {
    await untilWaiting(handle);
    const status = await handle.executeUpdate('selectWinner', { args: ['b'] });
    expect(status).toBe('winner_selected');
    await handle.signal('changed');
  });
  expect(asked).toEqual(['choose b']);
});

test('a distant start is checked hourly, so that a lost signal does no lasting harm', async () => {
  const startMs = await opened.env.currentTimeMs();
  const untilMs = startMs + 5 * 3_600_000;
  let looks = 0;
  const { activities } = given(() => {
    looks += 1;
    return looks > 5 ? end : { do: 'wait', untilMs };
  });
  await play(activities);
  expect(looks).toBe(6);
  expect((await opened.env.currentTimeMs()) - startMs).toBeGreaterThanOrEqual(
    5 * 3_600_000 - 5_000,
  );
});

test('a time that has passed only by the clock of Temporal is checked once a second', async () => {
  const startMs = await opened.env.currentTimeMs();
  let looks = 0;
  const { activities } = given(() => end);
  activities.readPlan = async () => {
    looks += 1;
    const nowMs = await opened.env.currentTimeMs();
    const isOver = looks > 50 || nowMs >= startMs + 10_000;
    return { step: isOver ? end : { do: 'wait', untilMs: nowMs - 1 }, story };
  };
  await play(activities);
  expect(looks).toBeLessThanOrEqual(11);
});

test('a look that fails within the task of the workflow is repeated by the server', async () => {
  const { activities } = given(() => end);
  const wereLocal: boolean[] = [];
  activities.readPlan = async () => {
    wereLocal.push(Context.current().info.isLocal);
    if (wereLocal.length < 3) throw new Error('the database is away');
    return { step: end, story };
  };
  await play(activities);
  expect(wereLocal).toEqual([true, false, false]);
});

test('a signal has the row read again at once', async () => {
  let isCancelled = false;
  const { activities } = given(() => (isCancelled ? end : { do: 'wait', untilMs: null }));
  await play(activities, async (handle) => {
    isCancelled = true;
    await handle.signal('changed');
  });
});

/** Slice 0 lasts until the test says that it is done. */
function givenLongSlice(hasMore: (frozen: number) => boolean | Promise<boolean>) {
  const slice = Promise.withResolvers<{ outage: string }>();
  let frozen = 0;
  const fakes = (list: string[]): Fakes => ({
    sendSlice: async () => {
      list.push('send');
      const result = await slice.promise;
      list.push('sent');
      return result;
    },
    freezeAudience: async () => {
      frozen += 1;
      list.push('freeze');
      return { hasMore: await hasMore(frozen) };
    },
  });
  return { slice, fakes };
}
const sendAndFreeze: Step = { do: 'send', slices: [0], freezes: true };

test('freezing goes on while a slice is being sent, until nothing is left', async () => {
  const { slice, fakes } = givenLongSlice((frozen) => {
    if (frozen === 3) slice.resolve({ outage: '' });
    return frozen < 3;
  });
  const { asked, activities } = given(script(sendAndFreeze, { do: 'finish' }, end), fakes);
  await play(activities);
  expect(asked.filter((name) => name === 'freeze')).toHaveLength(3);
  expect(asked.slice(-2)).toEqual(['sent', 'finish']);
  expect(asked.indexOf('send')).toBeLessThan(asked.indexOf('sent'));
});

test('recipients that were frozen meanwhile are sent to while the next freeze is under way', async () => {
  const lastSlice = Promise.withResolvers<void>();
  const next: Step = { do: 'send', slices: [1], freezes: true };
  const { asked, activities } = given(
    script(sendAndFreeze, next, { do: 'finish' }, end),
    (list) => ({
      sendSlice: async ({ slice }) => {
        list.push(`send ${slice}`);
        if (slice === 1) lastSlice.resolve();
        return { outage: '' };
      },
      freezeAudience: async () => {
        list.push('freeze');
        await lastSlice.promise;
        return { hasMore: false };
      },
    }),
  );
  await play(activities);
  expect(asked.filter((name) => name !== 'freeze')).toEqual(['send 0', 'send 1', 'finish']);
  expect(asked.filter((name) => name === 'freeze')).toHaveLength(1);
});

test.each([{ do: 'freeze' }, end] as const)(
  'a step that can only $do waits for the freeze that is under way',
  async (step) => {
    const { asked, activities } = given(script(sendAndFreeze, step, end), (list) => ({
      freezeAudience: async () => {
        list.push('freeze');
        await new Promise((done) => setTimeout(done, 500));
        list.push('frozen');
        return { hasMore: false };
      },
    }));
    await play(activities);
    expect(asked.toSorted()).toEqual(['freeze', 'frozen', 'send 0']);
  },
);

test('an outage while freezing goes on pauses the broadcast', async () => {
  const { slice, fakes } = givenLongSlice(() => false);
  slice.resolve({ outage: 'connection refused' });
  const { asked, activities } = given(script(sendAndFreeze, end), fakes);
  await play(activities);
  expect(asked).toContain('pause: outage: connection refused');
});

test('a permanent error of the freeze fails the broadcast, and its slices end by themselves', async () => {
  const { ApplicationFailure } = await import('@temporalio/common');
  const { slice, fakes } = givenLongSlice(() => {
    throw ApplicationFailure.nonRetryable('List not found', 'NotFound');
  });
  const { asked, activities } = given(script(sendAndFreeze, end), (list) => ({
    ...fakes(list),
    failBroadcast: async (_, reason) => {
      list.push(`fail: ${reason}`);
      slice.resolve({ outage: '' });
    },
  }));
  await play(activities);
  expect(asked.slice(-2)).toEqual(['fail: List not found', 'sent']);
});

test('cancelling the workflow while it sends and freezes cancels the broadcast', async () => {
  // The test server loses the task of a workflow that cancels what ends meanwhile.
  const frozen = Promise.withResolvers<boolean>();
  const { slice, fakes } = givenLongSlice(() => frozen.promise);
  const { asked, activities } = given(
    (list) => (list.includes('cancel') ? end : sendAndFreeze),
    fakes,
  );
  await play(activities, async (handle) => {
    const until = async (name: string) => {
      while (!asked.includes(name)) await new Promise((done) => setTimeout(done, 20));
    };
    await until('send');
    await until('freeze');
    await handle.cancel();
    await until('cancel');
    slice.resolve({ outage: '' });
    frozen.resolve(false);
  });
  expect(asked).toContain('cancel');
});

test('the current details say that the recipients are not all read yet', async () => {
  let isOver = false;
  const { activities } = given(script(end));
  activities.readPlan = async () => ({
    step: isOver ? end : { do: 'wait', untilMs: null },
    story: { ...story, isFreezing: true },
  });
  await play(activities, async (handle) => {
    await untilWaiting(handle);
    expect(await detailsOf(handle)).toContain('| Recipients | 10 so far |');
    isOver = true;
    await handle.signal('changed');
  });
});

test('an outage pauses the broadcast, which resumes at its time', async () => {
  const { asked, activities } = given(
    script({ do: 'send', slices: [3] }, { do: 'resume' }, { do: 'finish' }, end),
    (list) => ({
      sendSlice: async ({ slice }) => {
        list.push(`send ${slice}`);
        return { outage: 'connection refused' };
      },
    }),
  );
  await play(activities);
  expect(asked).toEqual(['send 3', 'pause: outage: connection refused', 'resume', 'finish']);
});

test('an outage with a known end is passed on with it', async () => {
  const { asked, activities } = given(script({ do: 'send', slices: [0, 1] }, end), () => ({
    sendSlice: async ({ slice }) =>
      slice === 0 ? { outage: '' } : { outage: 'enough for today', outageEndsAtMs: 1_000 },
  }));
  await play(activities);
  expect(asked).toEqual(['pause: outage: enough for today until 1000']);
});

test('a permanent error stops the broadcast with its reason', async () => {
  const { ApplicationFailure } = await import('@temporalio/common');
  const broken = async () => {
    throw ApplicationFailure.nonRetryable('Template not found', 'NotFound');
  };
  const frozen = given(script({ do: 'freeze' }, end), () => ({ freezeAudience: broken }));
  await play(frozen.activities);
  expect(frozen.asked).toEqual(['fail: Template not found']);
  const sent = given(script({ do: 'send', slices: [0] }, end), () => ({ sendSlice: broken }));
  await play(sent.activities);
  expect(sent.asked).toEqual(['pause: fault: Template not found']);
});

test('a slice with too many render failures continues only when the row allows it', async () => {
  const { asked, activities } = given(
    script({ do: 'send', slices: [0] }, { do: 'pauseForUnrendered' }, { do: 'finish' }, end),
  );
  await play(activities);
  expect(asked).toEqual(['send 0', 'pause for unrendered', 'finish']);
});

test("an operator's update is the API's operation and answers the new status", async () => {
  let isOver = false;
  const { asked, activities } = given(() => (isOver ? end : { do: 'wait', untilMs: null }));
  await play(activities, async (handle) => {
    expect(await handle.executeUpdate('pause')).toBe('paused');
    isOver = true;
    await handle.signal('changed');
  });
  expect(asked).toEqual(['operate pause']);
});

test('cancelling the workflow cancels the broadcast', async () => {
  const { asked, activities } = given((list) =>
    list.includes('cancel') ? end : { do: 'wait', untilMs: null },
  );
  await play(activities, async (handle) => {
    // The test server mixes up a cancellation and an activity that completes at the same moment.
    await untilWaiting(handle);
    await handle.cancel();
  });
  expect(asked).toEqual(['cancel']);
});

test('the current details show phase, counts, next step and reason', async () => {
  let isOver = false;
  const { activities } = given(script(end));
  activities.readPlan = async () => ({
    step: isOver ? end : { do: 'wait', untilMs: null },
    story: {
      ...story,
      status: 'paused',
      pausedBy: 'person',
      counts: { ...story.counts, sent: 4 },
      pageUrl: 'https://mail.example/broadcasts/b1?token=t',
    },
  });
  await play(activities, async (handle) => {
    await untilWaiting(handle);
    const details = await detailsOf(handle);
    for (const words of [
      'paused by a person',
      '| Recipients | 10 |',
      '| Sent | 4 |',
      '](https://mail.example/broadcasts/b1?token=t)',
    ]) {
      expect(details).toContain(words);
    }
    isOver = true;
    await handle.signal('changed');
  });
});
