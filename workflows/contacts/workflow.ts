/*
 * The build of one segment, as a loop: read which build the row wants, do a minute of it, repeat.
 *
 * Every page looks at the row again, so that a newer build (a changed tree) takes over at the next
 * page. What is committed stays: the next activity goes on behind it, in whatever worker.
 *
 * Wakes: a signal `changed`. The run ends when the row wants no build, and no signal came
 * meanwhile.
 *
 * Limits: a minute an activity, histories of 600 events, then it continues as new.
 */

import {
  allHandlersFinished,
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../../services/contacts/activities/all.ts';
import type { SegmentKey } from '../../services/contacts/segments/segment.ts';
import { tell } from './story.ts';

const { readBuild } = proxyActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '500 milliseconds', maximumInterval: '30 seconds' },
});
const { build } = proxyActivities<Activities>({
  // It works for a minute, then ends its page.
  startToCloseTimeout: '3 minutes',
  heartbeatTimeout: '30 seconds',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/**
 * The row has changed and has to be read. It carries no command, so a lost or repeated signal does
 * no harm.
 */
export const changed = defineSignal('changed');

/** A history stays well below a thousand events. */
const eventsMax = 600;

/**
 * Builds a segment: the row says which build, and every page reads it, so a newer build takes over
 * at the next page. A run may begin, end or be repeated at any point.
 */
export async function segmentBuild(key: SegmentKey, attributes: string[]): Promise<void> {
  let isChanged = false;
  setHandler(changed, () => {
    isChanged = true;
  });
  for (;;) {
    isChanged = false;
    const state = await readBuild(key);
    tell(state);
    if (state) {
      await build(key);
    } else {
      await condition(allHandlersFinished);
      // After a signal that came meanwhile the row is read once more.
      if (!isChanged) return;
    }
    if (workflowInfo().historyLength > eventsMax) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof segmentBuild>(key, attributes);
    }
  }
}
