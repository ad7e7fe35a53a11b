import { html } from '#lib/html/template.ts';
import { contractsOf } from '#lib/jobs/interests.ts';
import { code, type DocsPage, docsPage, table, words } from './page.ts';

/** When each event is told. */
const occasions: Record<string, string> = {
  'contact.created': 'A contact is new.',
  'contact.updated': 'A field of a contact has another value.',
  'contact.deleted': 'A contact was deleted; the data is what it was.',
  'list.subscribed': 'A contact is on a list for the first time, or again after it was removed.',
  'list.unsubscribed': 'The person, or a caller, ended it.',
  'list.confirmed': 'A pending subscription became active.',
  'list.resubscribed': 'A contact is back after an unsubscribe, bounce or complaint.',
  'list.bounced': 'The address bounced for good; one event for each of its lists.',
  'list.complained': 'A message was reported as spam.',
  'list.pending': 'A confirmation is awaited.',
  'list.removed': 'A contact was taken off a list, or the list was deleted.',
  'segment.joined': 'The conditions of a segment hold for a contact now.',
  'segment.left': 'They do not hold any more, or the segment or contact was deleted.',
  'email.sent': 'The mail server took a message.',
  'email.delivered': 'The provider reported it delivered.',
  'email.opened': 'A person opened it, for the first time.',
  'email.clicked': 'A person clicked in it, for the first time.',
  'email.bounced': 'It bounced for good.',
  'email.complained': 'It was reported as spam.',
  'email.unsubscribed': 'The person unsubscribed by one of its links.',
  'custom_event.created': 'A custom event is new, or was restored.',
  'custom_event.updated': 'A custom event was changed.',
  'custom_event.deleted': 'A custom event was deleted.',
};

/** The data of a kind: the part of the type before the point. */
const data: Record<string, string> = {
  contact: '`contact`: the contact as `contacts.getByEmail` answers it, without lists',
  list: '`email`, `list_id`, `list_name`, `status`, `previous_status` (null at first), `event_timestamp`',
  segment: '`email`, `segment_id`, `segment_name`, `event_timestamp`',
  email:
    '`email`, `message_id`, `template_id`, `broadcast_id`, `list_id`, `channel`, `event_timestamp`; null where there is none',
  custom_event:
    '`custom_event`: the event as `customEvents.get` answers it, with null for what it has not',
};

export function eventsPage(): DocsPage {
  const rows = eventTypes().map((type) => [
    code(type),
    words(occasions[type] ?? ''),
    words(data[type.slice(0, type.indexOf('.'))] ?? ''),
  ]);
  return docsPage(
    'Events',
    html`<p>A webhook subscription (<code>webhookSubscriptions.create</code>) gets events of its types by POST, each at least once and in no order, as
<code>{"id": "…", "type": "…", "workspace_id": "…", "timestamp": "…", "data": {…}}</code>, signed by Standard Webhooks. <code>timestamp</code> is when it happened, in microseconds, the same in each attempt; of two changes of a contact the later one has the later time.</p>
${table(['Type', 'When', 'data'], rows)}`,
  );
}

/** What services tell webhooks, in the order of the contract. */
function eventTypes(): string[] {
  return ['contacts', 'messages'].flatMap((producer) =>
    contractsOf(producer).flatMap(({ consumer, types }) => (consumer === 'webhooks' ? types : [])),
  );
}
