import { durationFromMs } from '@bufbuild/protobuf/wkt';
import type { IntegrationLane } from '../admission/lane.ts';

export function toSendingState(lane: IntegrationLane, unstoredOutcomes: number) {
  const { sender } = lane;
  const opensInMs = lane.opensInMs(false);
  return {
    workspaceId: lane.workspaceId,
    integrationId: lane.integrationId,
    waitingCalls: lane.waiting,
    openMessages: lane.taken,
    window: lane.window,
    connections: sender?.connections ?? 0,
    ratePerMinute: sender?.perMinute ?? 0,
    messageTime: sender?.messageMs ? durationFromMs(Math.round(sender.messageMs)) : undefined,
    opensIn: opensInMs > 0 ? durationFromMs(opensInMs) : undefined,
    isProbing: sender?.isProbing ?? false,
    unstoredOutcomes,
  };
}
