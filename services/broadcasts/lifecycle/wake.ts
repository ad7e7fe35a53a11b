import type { Client } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { createCache } from '#lib/cache.ts';
import { addJob } from '#lib/jobs/jobs.ts';
import type { Log } from '#lib/log.ts';
import type { EntityManager, Store } from '#lib/postgres/store.ts';
import type { broadcastLifecycle } from '../../../workflows/broadcasts/workflow.ts';
import type { Broadcast, BroadcastKey } from '../broadcast.ts';
import { knownSearchAttributes } from './search-attributes.ts';

export const taskQueue = 'broadcasts';

const retryMs = 1_000;
const callTimeoutMs = 5_000;
const attributesKeepMs = 60_000;

export function workflowIdOf({ workspaceId, id }: BroadcastKey): string {
  return `broadcast/${workspaceId}/${id}`;
}

type Wake = { key: BroadcastKey; name: string };

/** Has the broadcast's workflow look at its row again. Commits with the change, so none is lost or sent for nothing. */
export async function wake(em: EntityManager, broadcast: Broadcast, runAt?: Date): Promise<void> {
  const key = { workspaceId: broadcast.workspace_id, id: broadcast.id };
  const payload: Wake = { key, name: broadcast.name };
  await addJob(em, 'broadcasts', {
    task: 'wake',
    payload,
    key: workflowIdOf(key),
    ...(runAt ? { runAt } : {}),
  });
}

const workspaceId = defineSearchAttributeKey('WorkspaceId', SearchAttributeType.KEYWORD);

/** Signals the broadcast's run, or starts it with the search attributes that the server has. */
async function signalRun(temporal: Client, { key, name }: Wake, known: string[]): Promise<void> {
  const options = {
    workflowId: workflowIdOf(key),
    taskQueue,
    signal: 'changed',
    staticSummary: name.slice(0, 100),
    priority: { fairnessKey: key.workspaceId },
  };
  const start = (attributes: string[]) =>
    temporal.workflow.signalWithStart<typeof broadcastLifecycle>('broadcastLifecycle', {
      ...options,
      args: [key, attributes],
      typedSearchAttributes: attributes.includes(workspaceId.name)
        ? [{ key: workspaceId, value: key.workspaceId }]
        : [],
    });
  try {
    await start(known);
  } catch (error) {
    if (!namesSearchAttribute(error)) throw error;
    await start([]);
  }
}

/** Whether the server refuses an attribute, such as one that was removed since it was listed. Its words are in the cause. */
function namesSearchAttribute(error: unknown): boolean {
  return error instanceof Error && /search attribute/i.test(`${error.message} ${error.cause}`);
}

/** The task behind `wake`. While Temporal is away it puts itself off, so that the queue never waits for it. */
export function wakeWorkflow({
  temporal,
  store,
  log,
}: {
  temporal: Client;
  store: Store;
  log: Log;
}) {
  const known = createCache<string[]>({ entriesMax: 1, keepMs: attributesKeepMs });
  return async (payload: unknown): Promise<void> => {
    const { key, name } = payload as Wake;
    try {
      await temporal.connection.withDeadline(Date.now() + callTimeoutMs, async () => {
        // Who may not list them has them not used.
        const attributes = await known('', () => knownSearchAttributes(temporal)).catch(() => []);
        await signalRun(temporal, { key, name }, attributes);
      });
    } catch (error) {
      log.warn(
        { err: error, workflow: workflowIdOf(key) },
        'Temporal did not take a wake; trying again',
      );
      await store.fork().transactional((em) =>
        addJob(em, 'broadcasts', {
          task: 'wake',
          payload: { key, name },
          key: workflowIdOf(key),
          runAt: new Date(Date.now() + retryMs),
        }),
      );
    }
  };
}
