import type { Context, Methods } from '../context.ts';
import { toSendingState } from '../views/sending-state.ts';

export function listSendingStates({ admission, recorder }: Context): Methods['listSendingStates'] {
  return () => {
    const busiestFirst = admission.lanes.toSorted((one, other) => other.taken - one.taken);
    return {
      states: busiestFirst.map((lane) => toSendingState(lane, recorder.unstored(lane.workspaceId))),
    };
  };
}
