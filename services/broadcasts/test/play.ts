import { jest } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { begin } from '../activities/begin.ts';
import { completeTest } from '../activities/complete-test.ts';
import { finish } from '../activities/finish.ts';
import { freezeAudience } from '../activities/freeze-audience.ts';
import { pauseForUnrendered } from '../activities/pause-for-unrendered.ts';
import { pickWinner } from '../activities/pick-winner.ts';
import { readPlan } from '../activities/read-plan.ts';
import { sendSlice } from '../activities/send-slice.ts';
import { settle } from '../activities/settle.ts';
import type { BroadcastKey } from '../broadcast/broadcast.ts';
import type { Step } from '../lifecycle/next-step.ts';
import type { Given } from './given.ts';

/** Runs an activity outside of a worker. */
export const runActivity = <Result>(work: () => Promise<Result>): Promise<Result> =>
  new MockActivityEnvironment().run(work);

/** Takes the steps of the row, as the workflow does, until it waits, resumes or ends. */
export async function playSteps({ context }: Given, key: BroadcastKey): Promise<Step> {
  const actions = {
    begin,
    freeze: freezeAudience,
    completeTest,
    pickWinner,
    finish,
    settle,
    pauseForUnrendered,
  };
  for (;;) {
    const { step } = await readPlan(context)(key);
    if (step.do === 'wait' || step.do === 'resume' || step.do === 'end') return step;
    if (step.do === 'send') {
      if (step.freezes) await runActivity(() => freezeAudience(context)(key));
      for (const slice of step.slices) {
        const { isUnfinished } = await runActivity(() => sendSlice(context)({ ...key, slice }));
        if (isUnfinished) break;
      }
    } else {
      await runActivity<unknown>(() => actions[step.do](context)(key));
    }
  }
}

/** Resolves when the next slice that is sent sees that its row has changed. */
export function untilSliceSeesChange({ context: { revisions } }: Given): Promise<void> {
  const seen = Promise.withResolvers<void>();
  const watch = revisions.watch.bind(revisions);
  jest.spyOn(revisions, 'watch').mockImplementationOnce((key, revision, changed) =>
    watch(key, revision, () => {
      changed();
      seen.resolve();
    }),
  );
  return seen.promise;
}
