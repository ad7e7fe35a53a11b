import { setTimeout as sleep } from 'node:timers/promises';
import { createApi } from '../deploy/demo/api.ts';
import { ownerToken } from '../test/stack/owner.ts';
import type { BenchStack } from './bench-stack.ts';
import { givenBroadcast, givenTemplate, isSent, type Tenant } from './broadcast.ts';

const pollMs = 10;

let tenants = 0;

/** A workspace that sends through a server of its own, with a template. */
export async function givenTenant(
  { setting }: BenchStack,
  { perMinute, port, mjml }: { perMinute: number; port: number; mjml?: string },
): Promise<Tenant> {
  const token = await ownerToken({
    BASE_URL: setting('BASE_URL'),
    ROOT_EMAIL: setting('ROOT_EMAIL'),
    SECRET_KEY: setting('SECRET_KEY'),
  });
  const api = createApi(setting('BASE_URL'), token);
  tenants += 1;
  const workspaceId = `bench${tenants}`;
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
  await givenTemplate(tenant, mjml);
  return tenant;
}

/** Answers its id. */
export async function startBroadcast(tenant: Tenant, list: string): Promise<string> {
  const id = await givenBroadcast(tenant, 1, list);
  const { api, workspaceId } = tenant;
  await api('broadcasts.schedule', { body: { workspace_id: workspaceId, id, send_now: true } });
  return id;
}

/** From the call to the first mail and to the last one. */
export async function measureBroadcast(
  { sink }: BenchStack,
  tenant: Tenant,
  { list, recipients }: { list: string; recipients: number },
): Promise<{ firstMs: number; allMs: number }> {
  const before = (await sink.status()).total;
  const calledAtMs = Date.now();
  const id = await startBroadcast(tenant, list);
  let firstMs = 0;
  for (;;) {
    const count = (await sink.status()).total - before;
    if (count > 0) firstMs ||= Date.now() - calledAtMs;
    if (count >= recipients) break;
    await sleep(pollMs);
  }
  const allMs = Date.now() - calledAtMs;
  while (!(await isSent(tenant, id, calledAtMs))) await sleep(pollMs);
  return { firstMs, allMs };
}
