import { setTimeout as sleep } from 'node:timers/promises';
import type { Tenant } from '../broadcast.ts';
import { printStages } from './database.ts';
import { at, type Bench, printCosts, requireGate, usage } from './figures.ts';
import { type Load, measure, printLatency } from './open-loop.ts';
import { givenTenant, importContacts, subscribe, unsubscribe } from './tenant.ts';

const gateMs = 200;
const gateShare = 0.8;
const tenants = 10;
const deadOfTenant = 100;
/** Each of them is a delivery to every dead endpoint of the tenant. */
const eventsAtStart = 20;
const feedEveryMs = 1_000;

/**
 * The open loop to a good endpoint, beside 500 that never answer and 500 that nobody listens at,
 * all with events.
 */
export async function besideDead(
  bench: Bench,
  { settleSeconds, ...load }: Omit<Load, 'name'> & { settleSeconds: number },
): Promise<void> {
  const id = await subscribe(bench.stack, bench.receiver.good);
  await measure(bench, { ...load, name: 'beside-warm', seconds: load.seconds * 0.3 });
  const dead = await givenDead(bench);
  const stopped = new AbortController();
  const feeding = feed(dead, stopped.signal);
  await sleep(settleSeconds * 1_000);
  const before = usage(bench);
  const arrivals = await measure(bench, { ...load, name: 'beside' });
  const after = usage(bench);
  stopped.abort();
  await feeding;
  console.log(
    `\nopen loop at ${load.perSecond}/s for ${load.seconds} s beside ${tenants * deadOfTenant} endpoints, dead for ${settleSeconds} s:`,
  );
  const p99Ms = printLatency(arrivals);
  await printStages(bench.stack, id, 'beside-');
  const times = arrivals.map(({ atMs }) => atMs);
  const rate = arrivals.length / ((at(times, 1) - at(times, 0)) / 1_000);
  console.log(`  ${rate.toFixed(0)}/s received`);
  printCosts({ before, after }, { count: arrivals.length, what: 'delivery' });
  requireGate(`p99 below ${gateMs} ms`, p99Ms < gateMs);
  requireGate(`${gateShare * 100} % of the rate`, rate >= gateShare * load.perSecond);
  await unsubscribe(bench.stack, id);
}

async function givenDead({ stack, receiver }: Bench): Promise<Tenant[]> {
  const dead: Tenant[] = [];
  for (let number = 0; number < tenants; number += 1) {
    const tenant = await givenTenant(stack, `dead${number}`);
    for (let each = 0; each < deadOfTenant; each += 1) {
      // Each at an origin of its own would need a port each; a path of its own is enough for
      // everything but connections.
      await subscribe(tenant, each % 2 === 0 ? receiver.silent : receiver.refusing);
    }
    dead.push(tenant);
  }
  return dead;
}

async function feed(dead: readonly Tenant[], stopped: AbortSignal): Promise<void> {
  for (let round = 0; !stopped.aborted; round += 1) {
    const count = round === 0 ? eventsAtStart : 1;
    await Promise.all(
      dead.map((tenant) => importContacts(tenant, { name: `feed${round}-`, count })),
    );
    await sleep(feedEveryMs, undefined, { signal: stopped }).catch(() => {});
  }
}
