import type { TestStack } from '../stack.ts';
import { good, unique } from './given.ts';
import { ownerToken } from './owner.ts';

/** A new workspace that sends all its mail to the sink, from an address of its own. */
export async function givenWorkspace(stack: TestStack): Promise<{ id: string; from: string }> {
  const token = await ownerToken(stack.settings);
  const call = async (operation: string, body: object) =>
    good(await stack.call(operation, body, { token }));
  const id = unique('w');
  const from = `${id}@example.com`;
  const { hostname: host, port } = new URL(stack.settings.SMTP_URL ?? '');
  await call('workspaces.create', { id, name: 'New' });
  const provider = {
    kind: 'smtp',
    smtp: { host, port: Number(port), username: '', password: '', use_tls: false },
    senders: [{ email: from, name: 'Postrider', is_default: true }],
    rate_limit_per_minute: 600,
  };
  const integration = { workspace_id: id, name: 'Sink', type: 'email', provider };
  const { integration_id } = await call('workspaces.createIntegration', integration);
  const settings = {
    marketing_email_provider_id: integration_id,
    transactional_email_provider_id: integration_id,
  };
  await call('workspaces.update', { id, name: 'New', settings });
  return { id, from };
}
