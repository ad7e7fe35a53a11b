import type { HandlerContext } from '@connectrpc/connect';
import { CallGroups } from '#lib/batching/call-groups.ts';
import { outlivingCall } from '#lib/postgres/call-connections.ts';
import { isAboutValues } from '#lib/postgres/until-stored.ts';

type GroupedCall = { workspaceId: string };

type Options<Call, Answer> = {
  /** Calls of a workspace with an equal kind can be in one statement. */
  kindOf: (call: Call) => unknown;
  /** Two calls with an equal row cannot. */
  rowOf: (call: Call) => unknown;
  /** Writes calls of one workspace and kind: an answer or an error for each, in their order. */
  write: (workspaceId: string, calls: readonly Call[]) => Promise<readonly (Answer | Error)[]>;
};

/** Keeps what others wait for short. */
const groupMax = 100;
/** Of a workspace and kind; gateways and pools bound them before. */
const waitingMax = 1_000;
/** Each may wait for a lock or a connection. */
const runningMax = 32;
/** Of one workspace, which may have calls of many kinds. */
const runningMaxOfWorkspace = 16;
const deadlock = '40P01';

/** An operation whose calls share statements and commits with those that come at the same time. */
export function groupedCalls<Call extends GroupedCall, Answer>({
  kindOf,
  rowOf,
  write,
}: Options<Call, Answer>): (call: Call, context: HandlerContext) => Promise<Answer> {
  const groups = new CallGroups<Call, Answer>({
    ...{ groupMax, waitingMax, runningMax, isDivisible },
    owner: { of: workspaceOf, runningMax: runningMaxOfWorkspace },
    rowOf: (call) => JSON.stringify(rowOf(call)),
    write: async (_, calls) => {
      const workspaceId = calls[0]?.workspaceId ?? '';
      return outlivingCall(() => write(workspaceId, calls), { tenant: workspaceId });
    },
  });
  return async (call, { signal }) =>
    groups.add(`${call.workspaceId} ${JSON.stringify(kindOf(call))}`, call, signal);
}

/** Ids of workspaces have no spaces. */
const workspaceOf = (key: string) => key.slice(0, key.indexOf(' '));

/** Of a deadlock nothing was written. */
function isDivisible(error: unknown): boolean {
  const isDeadlock = error instanceof Error && 'code' in error && error.code === deadlock;
  return isDeadlock || isAboutValues(error);
}
