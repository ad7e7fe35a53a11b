import { asActivity } from '#lib/temporal/activity.ts';
import type { Context } from '../context.ts';
import { begin } from './begin.ts';
import { cancelIfLive } from './cancel-if-live.ts';
import { chooseWinner } from './choose-winner.ts';
import { completeTest } from './complete-test.ts';
import { failBroadcast } from './fail-broadcast.ts';
import { finish } from './finish.ts';
import { freezeAudience } from './freeze-audience.ts';
import { operate } from './operate.ts';
import { pauseBySystem } from './pause-by-system.ts';
import { pauseForUnrendered } from './pause-for-unrendered.ts';
import { pickWinner } from './pick-winner.ts';
import { readPlan } from './read-plan.ts';
import { resumeAfterOutage } from './resume-after-outage.ts';
import { sendSlice } from './send-slice.ts';
import { settle } from './settle.ts';

/** The activities of the broadcast workflow. All are safe to repeat: each reads the row first. */
export function createActivities(context: Context) {
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
  };
}

export type Activities = ReturnType<typeof createActivities>;
