import { asActivity } from '#lib/temporal/activity.ts';
import { readBuild } from '../segments/build/build.ts';
import type { MoveContext } from '../segments/live/move.ts';
import type { SegmentKey } from '../segments/segment.ts';
import { build } from './build.ts';

/** The activities of the workflow of segments. All are safe to repeat: each reads the row first. */
export function createActivities(context: MoveContext) {
  return {
    readBuild: asActivity((key: SegmentKey) => readBuild(context, key)),
    build: asActivity(build(context)),
  };
}

export type Activities = ReturnType<typeof createActivities>;
