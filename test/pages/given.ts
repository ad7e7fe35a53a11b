import { draftOf, good, sendNow, unique, untilStatus } from '../stack/given.ts';
import type { TestStack } from '../stack.ts';

async function givenMail(
  { call, workspaceId }: TestStack,
  { category, content }: { category: string; content: string },
): Promise<string> {
  const id = unique('t');
  const mjml = `<mjml><mj-body><mj-section><mj-column><mj-text>${content}</mj-text></mj-column></mj-section></mj-body></mjml>`;
  const email = { editor_mode: 'code', mjml_source: mjml, subject: 'About {{ list.name }}' };
  const template = { id, name: category, channel: 'email', category, email };
  good(await call('templates.create', { workspace_id: workspaceId, ...template }));
  return id;
}

/** A newsletter with links to unsubscribe and to the preferences. */
export function givenNewsletter(stack: TestStack): Promise<string> {
  const content = `<a href="{{ notification_center_url }}">Preferences</a>
<a href="{{ unsubscribe_url }}">Unsubscribe</a>`;
  return givenMail(stack, { category: 'marketing', content });
}

/** A public list with double opt-in. */
export async function givenOptInList(stack: TestStack): Promise<string> {
  const content = '<a href="{{ confirm_subscription_url }}">Confirm</a>';
  const templateId = await givenMail(stack, { category: 'opt_in', content });
  const optIn = { is_double_optin: true, double_optin_template: { id: templateId, version: 1 } };
  return givenPublicList(stack, { name: 'The Weekly', ...optIn });
}

export async function givenPublicList(
  { call, workspaceId }: TestStack,
  fields: object,
): Promise<string> {
  const id = unique('list');
  good(await call('lists.create', { workspace_id: workspaceId, id, is_public: true, ...fields }));
  return id;
}

/** Adds an active member by `lists.subscribe`, as a site's own server does. */
export async function givenMember(
  { call, workspaceId }: TestStack,
  {
    listIds,
    ...contact
  }: { listIds: string[]; email: string; language?: string; first_name?: string },
): Promise<void> {
  const body = { workspace_id: workspaceId, contact, list_ids: listIds };
  good(await call('lists.subscribe', body));
}

/** Sends the newsletter to a list, waits until it is sent, and returns the number of mails. */
export async function mail(
  stack: TestStack,
  to: { listId: string; templateId: string },
): Promise<number> {
  const { broadcast } = good(await stack.call('broadcasts.create', draftOf(stack, to)));
  await sendNow(stack, broadcast.id);
  return (await untilStatus(stack, broadcast.id, 'sent')).sent_count;
}

/** A contact as the API shows it, with the status of each of its memberships. */
export async function readContact({ call, workspaceId }: TestStack, email: string) {
  const query = { workspace_id: workspaceId, email };
  const { contact } = good(await call('contacts.getByEmail', undefined, { query }));
  type Membership = { list_id: string; status: string };
  const lists: Membership[] = contact.contact_lists;
  const statuses = new Map(lists.map(({ list_id, status }) => [list_id, status]));
  return { ...contact, statuses };
}
