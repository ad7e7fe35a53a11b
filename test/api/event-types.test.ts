import { expect, test } from '@jest/globals';
import PostalMime from 'postal-mime';
import { draftOf, good, sendNow, unique, untilStatus } from '../stack/given.ts';
import { givenWebhook } from '../stack/given-webhook.ts';
import { ownerToken } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';

/*
 * Every type of event that `webhookSubscriptions.eventTypes` lists comes to a webhook, by what
 * causes it in life.
 */

const stack = borrowedStack();
const call = async (operation: string, body: object) =>
  good(await stack.call(operation, { workspace_id: stack.workspaceId, ...body }));
const read = async (operation: string, query: Record<string, string> = {}) =>
  good(
    await stack.call(operation, undefined, {
      query: { workspace_id: stack.workspaceId, ...query },
    }),
  );

const tag = unique('types');
const emailOf = (name: string) => `${name}.${tag}@example.com`;
const [ann, bob, cid] = [emailOf('ann'), emailOf('bob'), emailOf('cid')];
const all = [ann, bob, cid];
const [listId, optInId, segmentId] = [unique('list'), unique('optin'), tag];

type Sent = { id: string; integration: string; mail: (email: string) => Promise<string> };
let sent: Sent;

async function sendBroadcast(): Promise<Sent> {
  const { workspaceId } = stack;
  const templateId = unique('t');
  await call('templates.create', template(templateId, 'marketing', '{{ unsubscribe_url }}'));
  const draft = draftOf(stack, { listId, templateId });
  const { broadcast } = good(await stack.call('broadcasts.create', draft));
  await sendNow(stack, broadcast.id);
  await untilStatus(stack, broadcast.id, 'sent');
  const token = await ownerToken(stack.settings);
  const query = { id: workspaceId };
  const { workspace } = good(await stack.call('workspaces.get', undefined, { query, token }));
  const integration = workspace.settings.marketing_email_provider_id;
  const mail = async (email: string) => (await stack.sink.bodies(email)).at(-1) ?? '';
  return { id: broadcast.id, integration, mail };
}

const template = (id: string, category: string, href: string) => ({
  ...{ id, name: id, channel: 'email', category },
  email: {
    ...{ editor_mode: 'code', subject: 'Hello' },
    mjml_source: `<mjml><mj-body><mj-section><mj-column><mj-text>
      <a href="https://example.com/news">News</a> <a href="${href}">Go</a>
      </mj-text></mj-column></mj-section></mj-body></mjml>`,
  },
});

async function visit(email: string, address: RegExp): Promise<void> {
  const { html = '' } = await PostalMime.parse(Buffer.from(await sent.mail(email), 'latin1'));
  const url = address.exec(html)?.[1] ?? '';
  const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0' };
  await (await fetch(url, { headers, redirect: 'manual' })).arrayBuffer();
}

/** Reports about the mails of the broadcast, as a mail server's log has them. */
async function reportOn(email: string, event: object): Promise<void> {
  const { messages } = await read('messages.list', { contact_email: email });
  const token = await ownerToken(stack.settings);
  const place = { workspace_id: stack.workspaceId, integration_id: sent.integration };
  await stack.call('webhooks.unregister', place, { token });
  const { status } = good(await stack.call('webhooks.register', place, { token }));
  const { search } = new URL(status.endpoints[0].url);
  const answer = await fetch(`${stack.settings.BASE_URL}/webhooks/email${search}`, {
    method: 'POST',
    body: JSON.stringify({ ...event, message_id: messages[0].id, recipient: email }),
  });
  expect(answer.status).toBe(200);
}

/** The causes, in the order in which they follow from each other; some have several events. */
const causes: [types: string[], cause: () => Promise<unknown>][] = [
  [
    ['contact.created', 'list.subscribed'],
    async () => {
      await call('lists.create', { id: listId, name: 'Readers' });
      const contacts = all.map((email) => ({ email }));
      await call('contacts.import', { contacts, subscribe_to_lists: [listId] });
    },
  ],
  [
    ['segment.joined', 'contact.updated'],
    async () => {
      await call('segments.create', {
        ...{ id: segmentId, name: 'Job', color: '#f00', timezone: 'UTC' },
        tree: jobIs(tag),
      });
      const state = async () => (await read('segments.get', { id: segmentId })).segment.status;
      await until('the segment is built', async () => (await state()) === 'active');
      await call('contacts.upsert', { contact: { email: ann, job_title: tag } });
    },
  ],
  [
    ['segment.left'],
    () => call('contacts.upsert', { contact: { email: ann, job_title: 'other' } }),
  ],
  [
    ['custom_event.created', 'custom_event.updated', 'custom_event.deleted'],
    async () => {
      const event = { email: ann, event_name: 'order', external_id: tag };
      await call('customEvents.upsert', event);
      await call('customEvents.upsert', { ...event, properties: { total: 1 } });
      await call('customEvents.upsert', { ...event, deleted_at: new Date().toISOString() });
    },
  ],
  [
    ['list.pending', 'list.confirmed'],
    async () => {
      await call('templates.create', template(optInId, 'opt_in', '{{ confirm_subscription_url }}'));
      await call('lists.create', {
        ...{ id: optInId, name: 'Asks', is_public: true, is_double_optin: true },
        double_optin_template: { id: optInId, version: 1 },
      });
      await subscribeByForm(ann, optInId);
      let link = '';
      await until('the confirmation mail has come', async () => {
        const mail = (await stack.sink.bodies(ann)).at(-1) ?? '';
        const { html = '' } = await PostalMime.parse(Buffer.from(mail, 'latin1'));
        link = /href="([^"]+\/c\/[^"]+)"/.exec(html)?.[1] ?? '';
        return link !== '';
      });
      await fetch(link, { method: 'POST' });
    },
  ],
  [
    ['email.sent'],
    async () => {
      sent = await sendBroadcast();
    },
  ],
  [['email.opened'], () => visit(ann, /src="([^"]+\/t\/[^"]+)"/)],
  [['email.clicked'], () => visit(ann, /href="([^"]+\/r\/[^"]+)"/)],
  [['email.delivered'], () => reportOn(ann, { event: 'delivered' })],
  [
    ['email.unsubscribed', 'list.unsubscribed'],
    async () => {
      const { headers } = await PostalMime.parse(Buffer.from(await sent.mail(ann), 'latin1'));
      const header = headers.find(({ key }) => key === 'list-unsubscribe')?.value ?? '';
      const url = /<(https?:[^>]+)>/.exec(header)?.[1] ?? '';
      await fetch(url, { method: 'POST', body: 'List-Unsubscribe=One-Click' });
    },
  ],
  [
    ['list.resubscribed'],
    () => call('contactLists.updateStatus', { email: ann, list_id: listId, status: 'active' }),
  ],
  [
    ['email.bounced', 'list.bounced'],
    () => reportOn(bob, { event: 'bounce', diagnostic_code: '550 5.1.1 no such user' }),
  ],
  [
    ['email.complained', 'list.complained'],
    () => reportOn(cid, { event: 'complaint', complaint_type: 'abuse' }),
  ],
  [['list.removed'], () => call('contactLists.removeContact', { email: ann, list_id: listId })],
  [['contact.deleted'], () => call('contacts.delete', { email: ann })],
];

const jobIs = (job: string) => ({
  kind: 'leaf',
  leaf: {
    source: 'contacts',
    contact: {
      filters: [
        {
          ...{ field_name: 'job_title', field_type: 'string' },
          ...{ operator: 'equals', string_values: [job] },
        },
      ],
    },
  },
});

async function subscribeByForm(email: string, list: string): Promise<void> {
  const body = { workspace_id: stack.workspaceId, contact: { email }, list_ids: [list] };
  const url = `${stack.settings.BASE_URL}/subscribe`;
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  expect(answer.status).toBe(200);
}

test('every type of event has a cause, and every cause one of them', async () => {
  const { event_types } = await read('webhookSubscriptions.eventTypes');
  expect(causes.flatMap(([types]) => types).toSorted()).toEqual(event_types.toSorted());
});

test('every type of event comes to a webhook by what causes it', async () => {
  const { event_types } = await read('webhookSubscriptions.eventTypes');
  const { untilCalled } = await givenWebhook(stack, event_types);
  for (const [types, cause] of causes) {
    await cause();
    await untilCalled(types);
  }
}, 180_000);
