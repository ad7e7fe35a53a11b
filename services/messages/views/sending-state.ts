import { durationFromMs } from '@bufbuild/protobuf/wkt';
import type { IntegrationLane } from '../admission/lane.ts';

export function toSendingState(lane: IntegrationLane, unstoredOutcomes: number) {
  const { server } = lane;
  const opensInMs = lane.opensInMs(false);
  return {
    workspaceId: lane.workspaceId,
    integrationId: lane.integrationId,
    waitingCalls: lane.waiting,
    openMessages: lane.taken,
    window: lane.window,
    connections: server?.connections ?? 0,
    ratePerMinute: server?.perMinute ?? 0,
    messageTime: server?.messageMs ? durationFromMs(Math.round(server.messageMs)) : undefined,
    opensIn: opensInMs > 0 ? durationFromMs(opensInMs) : undefined,
    isProbing: server?.isProbing ?? false,
    unstoredOutcomes,
  };
}
