import type { Client } from '@temporalio/client';
import { checkRuns } from './activities/check-runs.ts';
import { freezeAudience } from './activities/freeze-audience.ts';
import {
  begin,
  cancelIfLive,
  chooseWinner,
  completeTest,
  failBroadcast,
  finish,
  operate,
  pauseBySystem,
  pauseForUnrendered,
  resumeAfterOutage,
} from './activities/moves.ts';
import { pickWinner } from './activities/pick-winner.ts';
import { readPlan } from './activities/read-plan.ts';
import { sendSlice } from './activities/send-slice.ts';
import { settle } from './activities/settle.ts';
import type { Context } from './context.ts';
import { asActivity } from './lifecycle/activity.ts';

/** What the workflows of broadcasts do. All may be run again: each looks at the row first. */
export function createActivities(context: Context, temporal: Client) {
  return {
    readPlan: asActivity(readPlan(context)),
    begin: asActivity(begin(context)),
    freezeAudience: asActivity(freezeAudience(context)),
    completeTest: asActivity(completeTest(context)),
    pickWinner: asActivity(pickWinner(context)),
    chooseWinner: asActivity(chooseWinner(context)),
    sendSlice: asActivity(sendSlice(context)),
    settle: asActivity(settle(context)),
    finish: asActivity(finish(context)),
    pauseBySystem: asActivity(pauseBySystem(context)),
    pauseForUnrendered: asActivity(pauseForUnrendered(context)),
    resumeAfterOutage: asActivity(resumeAfterOutage(context)),
    failBroadcast: asActivity(failBroadcast(context)),
    operate: asActivity(operate(context)),
    cancelIfLive: asActivity(cancelIfLive(context)),
    checkRuns: asActivity(checkRuns(context, temporal)),
  };
}

export type Activities = ReturnType<typeof createActivities>;
