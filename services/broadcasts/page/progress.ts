import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { Broadcast } from '../broadcast/broadcast.ts';
import { isOver } from '../broadcast/row.ts';
import type { Peers } from '../peers.ts';
import { ifReached } from '../variations/stats.ts';

const linksMax = 20;
const linksWaitMs = 2_000;
/** The read goes on in messages, so that the page has it the next time. */
const timelineWaitMs = 4_000;
/** Opens after that are in the counts alone. */
const afterMs = 7 * 86_400_000;
/** How far the clocks of two machines may be apart. */
const toleranceMs = 60_000;

type Given = Pick<Peers, 'progress'> & { now: () => Date };

/** The links that people clicked; undefined while messages can't be reached. */
export function readLinks({ progress }: Given, { workspace_id: workspaceId, id }: Broadcast) {
  const asked = { workspaceId, broadcastId: id, limit: linksMax };
  return ifReached(progress.listBroadcastLinks(asked, { timeoutMs: linksWaitMs }));
}

/** Sent and opened over time; undefined before the start, and where reading them takes too long. */
export async function readTimeline({ progress, now }: Given, broadcast: Broadcast) {
  const { workspace_id: workspaceId, id, started_at: start, status } = broadcast;
  if (!start) return undefined;
  const over = isOver(status);
  const end = broadcast.completed_at ?? broadcast.cancelled_at ?? broadcast.updated_at;
  const nowMs = now().getTime() + toleranceMs;
  const untilMs = over ? Math.min(nowMs, end.getTime() + afterMs) : nowMs;
  const asked = {
    workspaceId,
    broadcastId: id,
    since: timestampFromDate(new Date(start.getTime() - toleranceMs)),
    until: timestampFromDate(new Date(untilMs)),
    isOver: over,
  };
  return ifReached(progress.getBroadcastTimeline(asked, { timeoutMs: timelineWaitMs }));
}
