import { createCall } from '../stack/client.ts';
import { good, unique } from '../stack/given.ts';

/** A workspace with a key for everything in it, whose mail goes to a server. */
export type Tenant = { baseUrl: string; workspaceId: string; token: string };

const resources = [
  'workspace',
  'contacts',
  'lists',
  'templates',
  'broadcasts',
  'transactional',
  'message_history',
  'webhooks',
];

export async function givenTenant(
  baseUrl: string,
  {
    owner,
    smtpPort,
    smtpHost = '127.0.0.1',
  }: { owner: string; smtpPort: number; smtpHost?: string },
): Promise<Tenant> {
  const call = createCall(baseUrl, owner);
  const ask = async (operation: string, body: object) => good(await call(operation, body));
  const id = unique('n');
  await ask('workspaces.create', { id, name: 'Tenant' });
  const provider = {
    kind: 'smtp',
    smtp: { host: smtpHost, port: smtpPort, username: '', password: '', use_tls: false },
    senders: [{ email: `${id}@example.com`, name: 'Tenant', is_default: true }],
    rate_limit_per_minute: 600_000,
  };
  const integration = { workspace_id: id, name: 'Mail', type: 'email', provider };
  const { integration_id } = await ask('workspaces.createIntegration', integration);
  const settings = {
    marketing_email_provider_id: integration_id,
    transactional_email_provider_id: integration_id,
  };
  await ask('workspaces.update', { id, name: 'Tenant', settings });
  const permissions = Object.fromEntries(
    resources.map((resource) => [resource, { read: true, write: true }]),
  );
  const key = { workspace_id: id, email_prefix: unique('key'), permissions };
  const { token } = await ask('workspaces.createAPIKey', key);
  return { baseUrl, workspaceId: id, token };
}

/** Calls an operation as the tenant, in its workspace. */
export async function act(
  { baseUrl, token, workspaceId }: Tenant,
  operation: string,
  body: object,
): Promise<unknown> {
  return good(await createCall(baseUrl, token)(operation, { workspace_id: workspaceId, ...body }));
}

/** A notification that can be sent at once. Returns its id. */
export async function givenNotification(
  tenant: Tenant,
  { source, subject = 'Hello' }: { source: string; subject?: string },
): Promise<string> {
  const id = unique('t');
  const email = { editor_mode: 'code', mjml_source: source, subject };
  const template = { id, name: 'Mail', channel: 'email', category: 'transactional', email };
  await act(tenant, 'templates.create', template);
  const channels = { email: { template_id: id } };
  await act(tenant, 'transactional.create', { notification: { id, name: 'Mail', channels } });
  return id;
}

/** A list of at most `contactsMax` contacts, and a template for broadcasts to them. */
export async function givenSendable(
  tenant: Tenant,
  contactsMax: number,
): Promise<{ list: string; template: string }> {
  const [list, template] = [unique('l'), unique('t')];
  await act(tenant, 'lists.create', { id: list, name: 'Readers' });
  for (let first = 0; first < contactsMax; first += 5_000) {
    const contacts = Array.from({ length: Math.min(5_000, contactsMax - first) }, (_, at) => ({
      email: `${list}.${first + at}@example.com`,
    }));
    await act(tenant, 'contacts.import', { contacts, subscribe_to_lists: [list] });
  }
  const email = { editor_mode: 'code', mjml_source: plainMail, subject: 'News' };
  const content = { name: 'News', channel: 'email', category: 'marketing', email };
  await act(tenant, 'templates.create', { id: template, ...content });
  return { list, template };
}

export function mailTo(email: string, notification: string): object {
  return { notification: { id: notification, contact: { email }, channels: ['email'] } };
}

export const plainMail = `<mjml><mj-body><mj-section><mj-column>
<mj-text>Hello {{ contact.email }}</mj-text>
</mj-column></mj-section></mj-body></mjml>`;
