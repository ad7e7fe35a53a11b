import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { contact } from './contact.ts';
import { printStages } from './database.ts';
import { at, type Bench, printCosts, requireGate, usage } from './figures.ts';
import type { Arrival } from './receiver.ts';
import { subscribe, unsubscribe } from './tenant.ts';

export type Load = {
  name: string;
  perSecond: number;
  seconds: number;
  /** How many contacts each call makes: one by `contacts.upsert`, more by `contacts.import`. */
  perCall: number;
};

const gateMs = 50;
const warmUpShare = 0.3;

/**
 * New contacts at a rate, whether or not the callbacks keep up; each has one event for one
 * endpoint.
 */
export async function openLoop(bench: Bench, load: Omit<Load, 'name'>): Promise<void> {
  const id = await subscribe(bench.stack, bench.receiver.good);
  await measure(bench, { ...load, name: 'warm', seconds: load.seconds * warmUpShare });
  const before = usage(bench);
  const arrivals = await measure(bench, { ...load, name: 'loop' });
  const after = usage(bench);
  console.log(`\nopen loop at ${load.perSecond}/s for ${load.seconds} s, ${load.perCall} a call:`);
  const p99Ms = printLatency(arrivals);
  await printStages(bench.stack, id, 'loop-');
  printCosts({ before, after }, { count: arrivals.length, what: 'delivery' });
  requireGate('a delivery was lost', arrivals.length === load.perSecond * load.seconds);
  requireGate(`p99 below ${gateMs} ms`, p99Ms < gateMs);
  await unsubscribe(bench.stack, id);
}

/**
 * Prints the times from the change of the contact, just before its commit, to the receipt; answers
 * the 99th percentile.
 */
export function printLatency(arrivals: readonly Arrival[]): number {
  const times = arrivals.map(({ atMs, changedAtMs }) => atMs - changedAtMs);
  const texts = [0.5, 0.9, 0.99, 1].map((share) => at(times, share).toFixed(1));
  console.log(
    `  ${arrivals.length} receipts, ms after the change: p50 ${texts[0]}, p90 ${texts[1]}, p99 ${texts[2]}, max ${texts[3]}`,
  );
  return at(times, 0.99);
}

/** Returns the deliveries of contacts made at a fixed rate. */
export async function measure({ stack, receiver }: Bench, load: Load): Promise<Arrival[]> {
  const { name, perSecond, seconds, perCall } = load;
  const operation = perCall === 1 ? 'contacts.upsert' : 'contacts.import';
  const pool = new Pool(stack.setting('BASE_URL'), { connections: 64 });
  const headers = {
    authorization: `Bearer ${stack.setting('TOKEN')}`,
    'content-type': 'application/json',
  };
  const call = async (number: number): Promise<void> => {
    const contacts = Array.from({ length: perCall }, (_, place) =>
      contact(`${name}-`, number + place),
    );
    const content = perCall === 1 ? { contact: contacts[0] } : { contacts };
    const body = JSON.stringify({ workspace_id: stack.workspaceId, ...content });
    const answer = await pool.request({
      path: `/api/${operation}`,
      method: 'POST',
      headers,
      body,
    });
    await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${operation} answered ${answer.statusCode}`);
  };
  const calls: Promise<void>[] = [];
  const startedAtMs = performance.now();
  for (let number = 0; number < perSecond * seconds; number += perCall) {
    const dueMs = startedAtMs + (number * 1_000) / perSecond;
    if (dueMs > performance.now()) await sleep(dueMs - performance.now());
    calls.push(call(number));
  }
  const arrived = receiver.takeAll(perSecond * seconds);
  await Promise.all(calls);
  const { arrivals } = await arrived;
  await pool.close();
  return arrivals;
}
