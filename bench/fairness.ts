import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type BenchStack, startBenchStack } from './bench-stack.ts';
import { importAudience, type Tenant } from './broadcast.ts';
import { ask, end, type SinkStatus, startSink } from './sink-process.ts';
import { givenTenant, measureBroadcast, startBroadcast } from './tenant.ts';

/** The tenants beside the fast one. */
type Scene = { name: string; tenants: number; perMinute: number; latencyMs: number };

const scenes: readonly Scene[] = [
  { name: 'alone', tenants: 0, perMinute: 0, latencyMs: 0 },
  { name: 'beside 2 at 60 a minute', tenants: 2, perMinute: 60, latencyMs: 0 },
  { name: 'beside 4 at 60 a minute', tenants: 4, perMinute: 60, latencyMs: 0 },
  { name: 'beside 12 at 60 a minute', tenants: 12, perMinute: 60, latencyMs: 0 },
  { name: 'beside 3 at 720 a minute, 2 s a mail', tenants: 3, perMinute: 720, latencyMs: 2_000 },
];
const fastPerMinute = 10_000_000;
const manyRecipients = 5_000;
const fewRecipients = 100;
/** Before the fast tenant starts, and so long at least are the slow ones measured. */
const settleMs = 5_000;
const slowMeasuredMs = 20_000;

/**
 * How a fast tenant fares beside tenants who may send little or whose servers are slow, and how
 * they do.
 */
export async function benchFairness(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { rounds: { type: 'string', default: '1' } } });
  const stack = await startBenchStack();
  try {
    const fast = await givenFastTenant(stack);
    for (let round = 0; round <= Number(values.rounds); round += 1) {
      // The first round warms compilers and caches up.
      if (round === 0)
        await measureScene(stack, fast, {
          name: 'warm-up',
          tenants: 0,
          perMinute: 0,
          latencyMs: 0,
        });
      else for (const scene of scenes) await measureScene(stack, fast, scene);
    }
  } finally {
    await stack.stop();
  }
}

async function givenFastTenant(stack: BenchStack): Promise<Tenant> {
  const fast = await givenTenant(stack, { perMinute: fastPerMinute, port: stack.sink.port });
  await importAudience(fast, manyRecipients, 'many');
  await importAudience(fast, fewRecipients, 'few');
  return fast;
}

async function measureScene(stack: BenchStack, fast: Tenant, scene: Scene): Promise<void> {
  const { name, tenants: count, perMinute, latencyMs } = scene;
  const sink = await startSink({ behaviour: { latencyMs } });
  const slow: { tenant: Tenant; id: string }[] = [];
  for (let number = 0; number < count; number += 1) {
    const tenant = await givenTenant(stack, { perMinute, port: sink.port });
    await importAudience(tenant, perMinute * 5);
    slow.push({ tenant, id: await startBroadcast(tenant, 'bench') });
  }
  await sleep(settleMs);
  const before = await ask<SinkStatus>(sink.control, '/status');
  const beforeMs = Date.now();
  const many = await measureBroadcast(stack, fast, { list: 'many', recipients: manyRecipients });
  const few = await measureBroadcast(stack, fast, { list: 'few', recipients: fewRecipients });
  if (count > 0) await sleep(Math.max(0, slowMeasuredMs - (Date.now() - beforeMs)));
  const after = await ask<SinkStatus>(sink.control, '/status');
  const seconds = (Date.now() - beforeMs) / 1_000;
  const share = (after.total - before.total) / ((count * perMinute * seconds) / 60);
  console.log(
    `${name}: ${manyRecipients} in ${(many.allMs / 1000).toFixed(2)} s, the first of ${fewRecipients} after ` +
      `${few.firstMs} ms, all of them after ${few.allMs} ms` +
      (count > 0 ? `; the others at ${(share * 100).toFixed(0)} % of their rate` : ''),
  );
  for (const { tenant, id } of slow) {
    await tenant.api('broadcasts.cancel', { body: { workspace_id: tenant.workspaceId, id } });
  }
  await end(sink.child);
}
