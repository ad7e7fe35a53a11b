import type { Client } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { createCache } from '../cache.ts';
import { knownSearchAttributes, type SearchAttributes } from './search-attributes.ts';

const callTimeoutMs = 5_000;
const attributesKeepMs = 60_000;
const workspaceAttribute = defineSearchAttributeKey('WorkspaceId', SearchAttributeType.KEYWORD);

/**
 * A workflow that has one run for each of a service's rows, with its row's key as first argument.
 */
export type Workflow = {
  type: string;
  taskQueue: string;
  signal: string;
  attributes: SearchAttributes;
};

export type Run<Key> = { key: Key; workflowId: string; summary: string };

/**
 * Signals the run of a row, or starts it with the search attributes that the server has, which are
 * its second argument. Fails after 5 seconds without Temporal.
 */
export function runSignaller<Key extends { workspaceId: string }>(
  temporal: Client,
  workflow: Workflow,
): (run: Run<Key>) => Promise<void> {
  const known = createCache<string[]>({ entriesMax: 1, keepMs: attributesKeepMs });
  return (run) =>
    temporal.connection.withDeadline(Date.now() + callTimeoutMs, async () => {
      // A namespace may refuse to list its search attributes; runs then start without them.
      const attributes = await known('', () =>
        knownSearchAttributes(temporal, workflow.attributes),
      ).catch(() => []);
      await signalOrStart(temporal, workflow, run, attributes);
    });
}

async function signalOrStart<Key extends { workspaceId: string }>(
  temporal: Client,
  { type, taskQueue, signal }: Workflow,
  { key, workflowId, summary }: Run<Key>,
  known: string[],
): Promise<void> {
  const start = (attributes: string[]) =>
    temporal.workflow.signalWithStart<(...input: [Key, string[]]) => Promise<void>>(type, {
      workflowId,
      taskQueue,
      signal,
      staticSummary: summary.slice(0, 100),
      priority: { fairnessKey: key.workspaceId },
      args: [key, attributes],
      typedSearchAttributes: attributes.includes(workspaceAttribute.name)
        ? [{ key: workspaceAttribute, value: key.workspaceId }]
        : [],
    });
  try {
    await start(known);
  } catch (error) {
    if (!namesSearchAttribute(error)) throw error;
    await start([]);
  }
}

/**
 * Whether the server refuses an attribute, such as one removed since it was listed. Its message is
 * in the cause.
 */
function namesSearchAttribute(error: unknown): boolean {
  return error instanceof Error && /search attribute/i.test(`${error.message} ${error.cause}`);
}
