import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createApi } from '../deploy/demo/api.ts';
import { ownerToken } from '../test/stack/owner.ts';
import { type BenchStack, startBenchStack } from './bench-stack.ts';
import { givenBroadcast, givenTemplate, importAudience, isSent, type Tenant } from './broadcast.ts';
import { ask, end, type SinkStatus, startSink } from './sink-process.ts';

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
const pollMs = 10;

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

let tenants = 0;

/** A workspace that sends through a server of its own, with a template. */
async function givenTenant(
  { setting }: BenchStack,
  { perMinute, port }: { perMinute: number; port: number },
): Promise<Tenant> {
  const token = await ownerToken({
    BASE_URL: setting('BASE_URL'),
    ROOT_EMAIL: setting('ROOT_EMAIL'),
    SECRET_KEY: setting('SECRET_KEY'),
  });
  const api = createApi(setting('BASE_URL'), token);
  tenants += 1;
  const workspaceId = `fair${tenants}`;
  const settings = { timezone: 'UTC', default_language: 'en', languages: ['en'] };
  await api('workspaces.create', { body: { id: workspaceId, name: workspaceId, settings } });
  const smtp = { host: '127.0.0.1', port, username: '', password: '', use_tls: false };
  const senders = [{ email: 'hello@example.com', name: 'Bench', is_default: true }];
  const provider = { kind: 'smtp', smtp, senders, rate_limit_per_minute: perMinute };
  const made = await api<{ integration_id: string }>('workspaces.createIntegration', {
    body: { workspace_id: workspaceId, name: 'Sink', type: 'email', provider },
  });
  await api('workspaces.update', {
    body: {
      id: workspaceId,
      name: workspaceId,
      settings: { ...settings, marketing_email_provider_id: made.integration_id },
    },
  });
  const tenant = { api, workspaceId };
  await givenTemplate(tenant);
  return tenant;
}

async function measureScene(stack: BenchStack, fast: Tenant, scene: Scene): Promise<void> {
  const { name, tenants: count, perMinute, latencyMs } = scene;
  const sink = await startSink({ behaviour: { latencyMs } });
  const slow: { tenant: Tenant; id: string }[] = [];
  for (let number = 0; number < count; number += 1) {
    const tenant = await givenTenant(stack, { perMinute, port: sink.port });
    await importAudience(tenant, perMinute * 5);
    slow.push({ tenant, id: await start(tenant, 'bench') });
  }
  await sleep(settleMs);
  const before = await ask<SinkStatus>(sink.control, '/status');
  const beforeMs = Date.now();
  const many = await measureFast(stack, fast, { list: 'many', recipients: manyRecipients });
  const few = await measureFast(stack, fast, { list: 'few', recipients: fewRecipients });
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

async function start(tenant: Tenant, list: string): Promise<string> {
  const id = await givenBroadcast(tenant, 1, list);
  const { api, workspaceId } = tenant;
  await api('broadcasts.schedule', { body: { workspace_id: workspaceId, id, send_now: true } });
  return id;
}

/** From the call to the first mail and to the last one. */
async function measureFast(
  { sink }: BenchStack,
  fast: Tenant,
  { list, recipients }: { list: string; recipients: number },
): Promise<{ firstMs: number; allMs: number }> {
  const before = (await sink.status()).total;
  const calledAtMs = Date.now();
  const id = await start(fast, list);
  let firstMs = 0;
  for (;;) {
    const count = (await sink.status()).total - before;
    if (count > 0) firstMs ||= Date.now() - calledAtMs;
    if (count >= recipients) break;
    await sleep(pollMs);
  }
  const allMs = Date.now() - calledAtMs;
  while (!(await isSent(fast, id, calledAtMs))) await sleep(pollMs);
  return { firstMs, allMs };
}
