import { createApi } from '../../deploy/demo/api.ts';
import { ownerToken } from '../../test/stack/owner.ts';
import type { BenchStack } from '../bench-stack.ts';
import type { Tenant } from '../broadcast.ts';
import { contact } from './contact.ts';

/** A workspace of its own. */
export async function givenTenant({ setting }: BenchStack, workspaceId: string): Promise<Tenant> {
  const token = await ownerToken({
    BASE_URL: setting('BASE_URL'),
    ROOT_EMAIL: setting('ROOT_EMAIL'),
    SECRET_KEY: setting('SECRET_KEY'),
  });
  const api = createApi(setting('BASE_URL'), token);
  const settings = { timezone: 'UTC', default_language: 'en', languages: ['en'] };
  await api('workspaces.create', { body: { id: workspaceId, name: workspaceId, settings } });
  return { api, workspaceId };
}

/** Listens to new contacts, or to other events. */
export async function subscribe(
  { api, workspaceId }: Tenant,
  url: string,
  type = 'contact.created',
): Promise<string> {
  const body = { workspace_id: workspaceId, name: 'Bench', url, event_types: [type] };
  const { subscription } = await api<{ subscription: { id: string } }>(
    'webhookSubscriptions.create',
    { body },
  );
  return subscription.id;
}

export async function unsubscribe({ api, workspaceId }: Tenant, id: string): Promise<void> {
  await api('webhookSubscriptions.delete', { body: { workspace_id: workspaceId, id } });
}

/** Imports `count` new contacts, an event each. */
export async function importContacts(
  { api, workspaceId }: Tenant,
  { name, count }: { name: string; count: number },
): Promise<void> {
  const contacts = Array.from({ length: count }, (_, number) => contact(name, number));
  await api('contacts.import', { body: { workspace_id: workspaceId, contacts } });
}
