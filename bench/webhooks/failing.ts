import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, Client as TemporalClient } from '@temporalio/client';
import type { Client } from 'pg';
import type { BenchStack } from '../bench-stack.ts';
import { openDatabase } from './database.ts';
import { type Bench, printCosts, requireGate, usage } from './figures.ts';
import { importContacts, subscribe, unsubscribe } from './tenant.ts';

const importSize = 10_000;
const gateEvents = 1_000;
const pollMs = 250;

/**
 * Many deliveries to an endpoint that is dead: what they cost until they wait, and then in some
 * seconds of waiting.
 */
export async function failing(
  bench: Bench,
  { events, seconds }: { events: number; seconds: number },
) {
  const { stack, receiver } = bench;
  const id = await subscribe(stack, receiver.refusing);
  const before = usage(bench);
  for (let first = 0; first < events; first += importSize) {
    const count = Math.min(importSize, events - first);
    await importContacts(stack, { name: `fail${first}-`, count });
  }
  const database = await openDatabase(stack);
  try {
    const read = () => readDeliveries(database, stack.workspaceId, id);
    while ((await read()).deliveries < events) await sleep(pollMs);
    const stored = usage(bench);
    await sleep(seconds * 1_000);
    const after = usage(bench);
    const runs = await runsOf(stack, id);
    const { deliveries, attempts } = await read();
    console.log(
      `\n${deliveries} deliveries to a dead endpoint, ${attempts} attempts: ${runs.count} workflow, ` +
        `${runs.historyEvents} history events ${seconds} s later`,
    );
    console.log('  until all were stored, with the import:');
    printCosts({ before, after: stored }, { count: events, what: 'delivery' });
    console.log(`  in the ${seconds} s after:`);
    printCosts({ before: stored, after }, { count: events, what: 'delivery' });
    requireGate('one workflow', runs.count === 1);
    requireGate(`below ${gateEvents} history events`, runs.historyEvents < gateEvents);
  } finally {
    await database.end();
  }
  await unsubscribe(stack, id);
}

async function readDeliveries(database: Client, workspaceId: string, id: string) {
  const { rows } = await database.query<{ deliveries: number; attempts: number }>(
    `select count(*)::int as deliveries, coalesce(sum(attempts), 0)::int as attempts from webhooks.deliveries
     where workspace_id = $1 and subscription_id = $2`,
    [workspaceId, id],
  );
  return rows[0] ?? { deliveries: 0, attempts: 0 };
}

async function runsOf({ setting, workspaceId }: BenchStack, id: string) {
  const connection = await Connection.connect({ address: setting('TEMPORAL_ADDRESS') });
  try {
    const { workflow } = new TemporalClient({ connection });
    let count = 0;
    let historyEvents = 0;
    const query = `WorkflowId = 'webhook/${workspaceId}/${id}'`;
    for await (const run of workflow.list({ query })) {
      count += 1;
      const { historyLength } = await workflow.getHandle(run.workflowId, run.runId).describe();
      historyEvents += historyLength;
    }
    return { count, historyEvents };
  } finally {
    await connection.close();
  }
}
