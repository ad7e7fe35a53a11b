import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { unique } from '../../stack/given.ts';
import { countDeliveries, deleteWebhook, subscribe, webhookRun } from '../../stack/webhooks.ts';
import type { TestStack } from '../../stack.ts';
import { deleted, kept, type Verdict, verdictOf } from './checker.ts';
import { type Endpoint, startEndpoint } from './endpoint.ts';
import type { Fault } from './schedule.ts';

export type ChaosOptions = {
  events: number;
  /** Over how long they are spread. */
  forMs: number;
  schedule: readonly Fault[];
  /** The longest time from the last fault to the end. */
  settleMsMax: number;
  say: (line: string) => void;
};

export type Report = Verdict & { events: number; faults: readonly Fault[]; seconds: number };

const importSize = 50;
/** Long enough that a kill finds callbacks open. */
const latencyMs = 250;
const againMs = 500;
const lookMs = 2_000;

/**
 * Imports contacts while the schedule's kills happen, has one of two subscriptions deleted midway,
 * and checks what came.
 */
export async function runWebhookChaos(stack: TestStack, options: ChaosOptions): Promise<Report> {
  const startedAtMs = Date.now();
  const endpoint = await startEndpoint(join(stack.folder, unique('callbacks')), latencyMs);
  const types = ['contact.created'];
  const stays = await subscribe(stack, endpoint.urlOf(kept), types);
  const goes = await subscribe(stack, endpoint.urlOf(deleted), types);
  const say = (line: string): void => {
    const seconds = ((Date.now() - startedAtMs) / 1_000).toFixed(1).padStart(6);
    options.say(
      `${seconds} s  ${String(endpoint.arrivals().length).padStart(6)} callbacks  ${line}`,
    );
  };
  const killing = killAll(stack, endpoint, options.schedule, say);
  const deleting = sleep(options.forMs / 2).then(async () => {
    await untilDone(() => deleteOnce(stack, goes));
    say('one subscription is deleted');
    return Date.now();
  });
  const emails = await importAll(stack, options);
  say('all contacts are imported');
  const [deletedAtMs] = await Promise.all([deleting, killing]);
  const problems = await settle(stack, stays.id, { ...options, events: emails.length, say });
  const verdict = verdictOf({
    emails,
    arrivals: endpoint.arrivals(),
    faults: options.schedule,
    deletedAtMs,
  });
  for (const { id } of [stays, goes]) {
    const run = await webhookRun(stack, id);
    if (run !== undefined && run !== 'COMPLETED') problems.push(`a workflow is ${run}`);
  }
  await deleteWebhook(stack, stays);
  endpoint.stop();
  return {
    ...verdict,
    problems: [...verdict.problems, ...problems],
    events: emails.length,
    faults: options.schedule,
    seconds: (Date.now() - startedAtMs) / 1_000,
  };
}

async function killAll(
  stack: TestStack,
  endpoint: Endpoint,
  schedule: readonly Fault[],
  say: (line: string) => void,
): Promise<void> {
  const startedAtMs = Date.now();
  const away: Promise<void>[] = [];
  for (const { afterMs, name, forMs } of schedule) {
    await sleep(startedAtMs + afterMs - Date.now());
    say(`kill ${name}${forMs ? ` for ${(forMs / 1_000).toFixed(1)} s` : ''}`);
    if (name === 'endpoint') {
      // It may be away still.
      await Promise.all(away);
      away.push(endpoint.kill(() => sleep(forMs)));
    } else stack.processes.kill(name);
  }
  await Promise.all(away);
}

/** Repeats a call until it succeeds, as clients do. */
export async function untilDone(call: () => Promise<boolean>): Promise<void> {
  while (!(await call().catch(() => false))) await sleep(againMs);
}

async function deleteOnce(
  { call, workspaceId }: TestStack,
  { id }: { id: string },
): Promise<boolean> {
  const answer = await call('webhookSubscriptions.delete', { workspace_id: workspaceId, id });
  // The answer to an earlier call may have been lost.
  return answer.status === 200 || answer.status === 404;
}

export async function importAll(
  { call, workspaceId }: TestStack,
  { events, forMs }: Pick<ChaosOptions, 'events' | 'forMs'>,
): Promise<string[]> {
  const name = unique('chaos');
  const emails = Array.from({ length: events }, (_, number) => `${name}-${number}@example.com`);
  const startedAtMs = Date.now();
  for (let first = 0; first < events; first += importSize) {
    await sleep(Math.max(0, startedAtMs + (first / events) * forMs - Date.now()));
    const contacts = emails.slice(first, first + importSize).map((email) => ({ email }));
    await untilDone(async () => {
      const { status } = await call('contacts.import', { workspace_id: workspaceId, contacts });
      return status === 200;
    });
  }
  return emails;
}

/** Waits until everything is delivered; an operator's update spares the hours of the schedule. */
export async function settle(
  stack: TestStack,
  id: string,
  { events, settleMsMax, say }: Pick<ChaosOptions, 'settleMsMax' | 'say' | 'events'>,
): Promise<string[]> {
  const giveUpAtMs = Date.now() + settleMsMax;
  let left = '';
  while (Date.now() < giveUpAtMs) {
    await sleep(lookMs);
    try {
      const { total, delivered } = await countDeliveries(stack, id);
      const run = await webhookRun(stack, id);
      left = `${delivered} of ${total} are delivered, the run is ${run}`;
      if (delivered === events && (run === undefined || run === 'COMPLETED')) return [];
      say(left);
      await retryNow(stack, id);
    } catch {
      // A part is still starting, or no run waits.
    }
  }
  return [left];
}

async function retryNow({ settings, workspaceId }: TestStack, id: string): Promise<void> {
  const connection = await Connection.connect({ address: settings.TEMPORAL_ADDRESS ?? '' });
  try {
    const { workflow } = new Client({ connection });
    const run = workflow.getHandle(`webhook/${workspaceId}/${id}`);
    await connection.withDeadline(Date.now() + lookMs, () => run.executeUpdate('retryNow'));
  } finally {
    await connection.close();
  }
}
