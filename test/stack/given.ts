import { randomBytes } from 'node:crypto';
import type { TestStack } from '../stack.ts';
import type { Answer } from './client.ts';
import { ownerToken } from './owner.ts';

import type { Mail } from './sink-client.ts';
import { until } from './until.ts';

export const fast = 10_000_000;
const importSize = 5_000;

/** A name that no other test uses. */
export function unique(prefix: string): string {
  return `${prefix}${randomBytes(5).toString('hex')}`;
}

export function good(answer: Answer): Answer['body'] {
  if (answer.status >= 300) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

export async function givenList({ call, workspaceId }: TestStack): Promise<string> {
  const id = unique('list');
  good(await call('lists.create', { workspace_id: workspaceId, id, name: 'Readers' }));
  return id;
}

/** Creates a list with contacts, and returns their addresses. */
export async function importContacts(
  { call, workspaceId }: TestStack,
  listId: string,
  count: number,
): Promise<string[]> {
  const emails = Array.from({ length: count }, (_, at) => `r${at}.${listId}@example.com`);
  for (let first = 0; first < count; first += importSize) {
    const contacts = emails
      .slice(first, first + importSize)
      .map((email, at) => ({ email, first_name: `Reader ${first + at}` }));
    const body = { workspace_id: workspaceId, contacts, subscribe_to_lists: [listId] };
    const { operations } = good(await call('contacts.import', body));
    const bad = operations.filter(({ error }: { error: string | null }) => error !== null);
    if (bad.length > 0) throw new Error(`${bad.length} rows were refused: ${bad[0].error}`);
  }
  return emails;
}

const mjml = `<mjml><mj-body><mj-section><mj-column>
<mj-text>Hello {{ contact.first_name }}</mj-text>
<mj-button href="https://example.com/news">News</mj-button>
<mj-text><a href="{{ unsubscribe_url }}">Leave</a></mj-text>
</mj-column></mj-section></mj-body></mjml>`;

export async function givenTemplate(
  { call, workspaceId }: TestStack,
  source = mjml,
): Promise<string> {
  const id = unique('t');
  const email = {
    editor_mode: 'code',
    mjml_source: source,
    subject: 'Hello {{ contact.first_name }}',
  };
  good(
    await call('templates.create', {
      workspace_id: workspaceId,
      id,
      name: 'Hello',
      channel: 'email',
      category: 'marketing',
      email,
    }),
  );
  return id;
}

export type Broadcast = {
  id: string;
  status: string;
  enqueued_count: number;
  sent_count: number;
  failed_count: number;
  skipped_count: number;
  deferred_count: number;
  pause_reason?: string;
};

export type GivenBroadcast = { id: string; listId: string; templateId: string; emails: string[] };

/** A draft to new contacts. */
export async function givenBroadcast(
  stack: TestStack,
  recipients: number,
): Promise<GivenBroadcast> {
  const listId = await givenList(stack);
  const emails = await importContacts(stack, listId, recipients);
  const templateId = await givenTemplate(stack);
  const body = draftOf(stack, { listId, templateId });
  const { broadcast } = good(await stack.call('broadcasts.create', body));
  return { id: broadcast.id, listId, templateId, emails };
}

/**
 * A draft with two variations, tested on half of new contacts and decided by clicks after four
 * hours.
 */
export async function givenTest(stack: TestStack, recipients: number) {
  const listId = await givenList(stack);
  const emails = await importContacts(stack, listId, recipients);
  const templates = [await givenTemplate(stack), await givenTemplate(stack)];
  const body = {
    ...draftOf(stack, { listId, templateId: '' }),
    name: 'Spring newsletter',
    test_settings: {
      enabled: true,
      sample_percentage: 50,
      auto_send_winner: true,
      auto_send_winner_metric: 'click_rate',
      test_duration_hours: 4,
      variations: templates.map((template_id) => ({ template_id })),
    },
  };
  const { broadcast } = good(await stack.call('broadcasts.create', body));
  return { id: broadcast.id as string, emails, templates };
}

export function draftOf(
  { workspaceId }: TestStack,
  { listId, templateId }: { listId: string; templateId: string },
) {
  return {
    workspace_id: workspaceId,
    name: 'News',
    audience: { list: listId, exclude_unsubscribed: true },
    test_settings: { variations: [{ template_id: templateId, variation_name: 'A' }] },
  };
}

export function act(
  { call, workspaceId }: TestStack,
  action: string,
  id: string,
  more: object = {},
): Promise<Answer> {
  return call(`broadcasts.${action}`, { workspace_id: workspaceId, id, ...more });
}

export async function sendNow(stack: TestStack, id: string): Promise<void> {
  good(await act(stack, 'schedule', id, { send_now: true }));
}

export async function readBroadcast(
  { call, workspaceId }: TestStack,
  id: string,
): Promise<Broadcast> {
  const query = { workspace_id: workspaceId, id };
  return good(await call('broadcasts.get', undefined, { query })).broadcast;
}

/** Retries failed calls, as a client would. */
export async function untilStatus(
  stack: TestStack,
  id: string,
  status: string,
  { withinMs = 60_000 } = {},
): Promise<Broadcast> {
  let last: Broadcast | undefined;
  await until(
    `broadcast ${id} is ${status}`,
    async () => {
      last = await readBroadcast(stack, id).catch(() => undefined);
      return last?.status === status;
    },
    { withinMs },
  );
  if (!last) throw new Error('nothing was read');
  return last;
}

/** The mails that the sink has accepted for these addresses, in order. */
export function mailsTo(stack: TestStack, emails: readonly string[]): Mail[] {
  const wanted = new Set(emails);
  return stack.mails().filter(({ email }) => wanted.has(email));
}

export async function untilFlowing(stack: TestStack, emails: readonly string[]): Promise<void> {
  await until('mails arrive', async () => mailsTo(stack, emails).length > 0);
}

/** Sets the rate of all sending, so that a test has time to act. */
export function setRate(stack: TestStack, perMinute: number): Promise<void> {
  return setLimits(stack, { rate_limit_per_minute: perMinute });
}

type Limits = {
  rate_limit_per_minute: number;
  warm_up?: { started_on: string; daily_limits: number[] };
};

/** Sets the limits of sending: the rate, and the days of a warm-up. */
export async function setLimits(stack: TestStack, limits: Limits): Promise<void> {
  const { call, workspaceId, settings } = stack;
  const token = await ownerToken(settings);
  const { workspace } = good(
    await call('workspaces.get', undefined, { query: { id: workspaceId }, token }),
  );
  const [integration] = workspace.integrations;
  const provider = { ...integration.email_provider, warm_up: undefined, ...limits };
  const body = {
    workspace_id: workspaceId,
    integration_id: integration.id,
    name: integration.name,
    provider,
  };
  good(await call('workspaces.updateIntegration', body, { token }));
}
