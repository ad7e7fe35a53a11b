import type { Client } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { createCache } from '#lib/cache.ts';
import type { Log } from '#lib/log.ts';
import type { Store } from '#lib/postgres/store.ts';
import {
  changedSignal,
  type RunInput,
  taskQueue,
  workflowIdOf,
  workflowType,
} from '../lifecycle/run.ts';
import { knownSearchAttributes } from '../lifecycle/search-attributes.ts';
import { addWake, type Wake } from '../lifecycle/wake.ts';

const retryMs = 1_000;
const callTimeoutMs = 5_000;
const attributesKeepMs = 60_000;

const workspaceId = defineSearchAttributeKey('WorkspaceId', SearchAttributeType.KEYWORD);

/** Signals the broadcast's run, or starts it. While Temporal is down it reschedules itself, so that it never blocks the queue. */
export function wake({ temporal, store, log }: { temporal: Client; store: Store; log: Log }) {
  const known = createCache<string[]>({ entriesMax: 1, keepMs: attributesKeepMs });
  return async (payload: unknown): Promise<void> => {
    const { key, name } = payload as Wake;
    try {
      await temporal.connection.withDeadline(Date.now() + callTimeoutMs, async () => {
        // A namespace may refuse to list its search attributes; runs then start without them.
        const attributes = await known('', () => knownSearchAttributes(temporal)).catch(() => []);
        await signalRun(temporal, { key, name }, attributes);
      });
    } catch (error) {
      log.warn(
        { err: error, workflow: workflowIdOf(key) },
        'Temporal did not take a wake; trying again',
      );
      const runAt = new Date(Date.now() + retryMs);
      await store.fork().transactional((em) => addWake(em, { key, name }, runAt));
    }
  };
}

/** Signals the broadcast's run, or starts it with the search attributes that the server has. */
async function signalRun(temporal: Client, { key, name }: Wake, known: string[]): Promise<void> {
  const options = {
    workflowId: workflowIdOf(key),
    taskQueue,
    signal: changedSignal,
    staticSummary: name.slice(0, 100),
    priority: { fairnessKey: key.workspaceId },
  };
  const start = (attributes: string[]) =>
    temporal.workflow.signalWithStart<(...input: RunInput) => Promise<void>>(workflowType, {
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

/** Whether the server refuses an attribute, such as one removed since it was listed. Its message is in the cause. */
function namesSearchAttribute(error: unknown): boolean {
  return error instanceof Error && /search attribute/i.test(`${error.message} ${error.cause}`);
}
