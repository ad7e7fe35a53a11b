import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { connectTemporal } from '#lib/temporal/client.ts';
import type { TemporalServer } from '#lib/temporal/config.ts';
import { temporalReadiness } from '#lib/temporal/readiness.ts';
import { clockFinding, type Finding, ok, warning, wrong } from './finding.ts';
import { refusalOf } from './network.ts';

const about = 'TEMPORAL_ADDRESS';
/** A person waits for it, on a machine that may be busy. */
const callMaxMs = 20_000;
const defaultPort = '7233';

/**
 * Whether Temporal answers, has the namespace and its search attributes, and agrees about the time.
 */
export async function checkTemporal(server: TemporalServer): Promise<Finding[]> {
  // Its client would try again for as long as it may.
  const refusal = await refusalOf(server.address, defaultPort);
  if (refusal) return [wrong(about, refusal, 'start Temporal, or correct the address')];
  const temporal = connectTemporal(server);
  try {
    const { missing, warnings } = await temporalReadiness(
      temporal,
      await searchAttributes(),
      callMaxMs,
    );
    if (missing.length > 0) {
      const remedy = `temporal operator namespace create --namespace ${server.namespace}`;
      return missing.map((text) => wrong(about, text, remedy));
    }
    return [
      ok(about, `answers and has the namespace ${server.namespace}`),
      ...warnings.map((text) => warning(about, text, 'without it, the UI cannot search by it')),
      await checkClock(temporal),
    ];
  } finally {
    await temporal.connection.close();
  }
}

async function searchAttributes() {
  const workflows = await Promise.all([
    import('../../../services/broadcasts/lifecycle/run.ts'),
    import('../../../services/contacts/segments/build/run.ts'),
    import('../../../services/webhooks/lifecycle/run.ts'),
  ]);
  return Object.assign({}, ...workflows.map(({ workflow }) => workflow.attributes));
}

/**
 * Temporal tells its time only of pollers: polls a task queue that nothing uses, and asks when that
 * was.
 */
async function checkClock(temporal: Client): Promise<Finding> {
  const { namespace } = temporal.options;
  const { workflowService } = temporal.connection;
  const identity = `postrider-doctor-${crypto.randomUUID()}`;
  const taskQueue = { name: identity };
  const until = Date.now() + callMaxMs;
  const before = Date.now();
  const polling = temporal.connection
    .withDeadline(until, () =>
      workflowService.pollWorkflowTaskQueue({ namespace, taskQueue, identity }),
    )
    .catch(() => {});
  while (Date.now() < until) {
    const { pollers } = await workflowService.describeTaskQueue({
      namespace,
      taskQueue,
      taskQueueType: 1,
    });
    const seconds = pollers?.find((poller) => poller.identity === identity)?.lastAccessTime;
    if (seconds) {
      void polling;
      const theirs = Number(seconds.seconds ?? 0) * 1_000 + (seconds.nanos ?? 0) / 1e6;
      return clockFinding(about, theirs, { before, after: Date.now() });
    }
    await sleep(100);
  }
  return warning(about, 'the server did not tell its time', 'compare the clocks by hand');
}
