/** A resource that is counted for each workspace, and its limit. */
type Quota = {
  unit: 'rows' | 'bytes';
  /** Of an installation that sets no other. */
  quota: number;
  /** No setting goes beyond it, since answers hold all of them at once. */
  most?: number;
  beyond: string;
  freeBy: string;
  /** For callers that are refused; an hour where absent. */
  retryMs?: number;
};

const mebibyte = 1024 * 1024;
const refused = 'A call that would add one is refused.';

/** By resource, in the order of `workspaces.usage`. */
export const resources = {
  contacts: {
    unit: 'rows',
    quota: 10_000_000,
    beyond: 'A call that would create a contact is refused; contacts that exist can be changed.',
    freeBy: 'delete contacts by contacts.delete',
  },
  lists: {
    unit: 'rows',
    quota: 1_000,
    most: 1_000,
    beyond: refused,
    freeBy: 'delete lists by lists.delete',
  },
  segments: {
    unit: 'rows',
    quota: 500,
    most: 500,
    beyond: refused,
    freeBy: 'delete segments by segments.delete',
  },
  custom_events: {
    unit: 'rows',
    quota: 50_000_000,
    beyond: 'A call that writes custom events is refused.',
    freeBy: 'delete contacts by contacts.delete; their events go with them',
  },
  timeline_entries: {
    unit: 'rows',
    quota: 100_000_000,
    beyond: 'The oldest are deleted.',
    freeBy: 'set settings.timeline_retention_days to fewer days',
  },
  templates: {
    unit: 'rows',
    quota: 1_000,
    most: 1_000,
    beyond: refused,
    freeBy: 'delete templates by templates.delete',
  },
  template_bytes: {
    unit: 'bytes',
    quota: 4_096 * mebibyte,
    beyond: 'A call that would add a version is refused.',
    freeBy: 'change templates less often, since every version is kept',
  },
  template_blocks: {
    unit: 'rows',
    quota: 500,
    most: 500,
    beyond: refused,
    freeBy: 'delete blocks by templateBlocks.delete',
  },
  broadcasts: {
    unit: 'rows',
    quota: 100_000,
    beyond: refused,
    freeBy: 'delete broadcasts by broadcasts.delete',
  },
  feed_bytes: {
    unit: 'bytes',
    quota: 1_024 * mebibyte,
    beyond: 'A broadcast with a global feed is not created.',
    freeBy: 'delete broadcasts with a global feed by broadcasts.delete',
  },
  notifications: {
    unit: 'rows',
    quota: 1_000,
    most: 1_000,
    beyond: refused,
    freeBy: 'delete notifications by transactional.delete',
  },
  queued_messages: {
    unit: 'rows',
    quota: 1_000_000,
    beyond: 'Transactional messages are refused.',
    freeBy: 'wait until they are sent, or cancel them by transactional.cancel',
    retryMs: 1_000,
  },
  welcomes: {
    unit: 'rows',
    quota: 10_000_000,
    beyond: 'New members of lists are not welcomed.',
    freeBy:
      'wait until they are sent and seven days more, or take the welcome off a list by lists.update, which deletes those that wait within the hour',
  },
  queued_bytes: {
    unit: 'bytes',
    quota: 5_120 * mebibyte,
    beyond: 'Transactional messages are refused.',
    freeBy:
      'wait until the messages are sent; files are kept for a day after that, unless messages are cancelled by transactional.cancel',
    retryMs: 1_000,
  },
  content_bytes: {
    unit: 'bytes',
    quota: 51_200 * mebibyte,
    beyond: 'Mails are sent, and their content is not kept.',
    freeBy: 'set settings.message_content_days to fewer days',
  },
  suppressions: {
    unit: 'rows',
    quota: 10_000_000,
    beyond: 'suppressions.add and suppressions.import are refused.',
    freeBy: 'remove addresses by suppressions.remove',
  },
  inbound_reports: {
    unit: 'rows',
    quota: 2_000_000,
    beyond:
      'Reports of providers are not taken now; the oldest that are done are deleted within the hour.',
    freeBy: 'wait an hour, or ask for reports of fewer types by webhooks.register',
  },
  pending_deliveries: {
    unit: 'rows',
    quota: 500_000,
    beyond:
      'The oldest pending deliveries fail, and webhookSubscriptions.redeliver brings them back.',
    freeBy: 'mend endpoints that do not answer, or delete their subscriptions',
  },
  kept_deliveries: {
    unit: 'rows',
    quota: 10_000_000,
    beyond: 'The oldest deliveries that are done are deleted.',
    freeBy: 'set settings.webhook_retention_days to fewer days',
  },
  webhook_bytes: {
    unit: 'bytes',
    quota: 20_480 * mebibyte,
    beyond: 'The oldest deliveries fail if they are pending, and are deleted.',
    freeBy: 'set settings.webhook_retention_days to fewer days',
  },
  webhook_subscriptions: {
    unit: 'rows',
    quota: 100,
    most: 100,
    beyond: refused,
    freeBy: 'delete subscriptions by webhookSubscriptions.delete',
  },
} as const satisfies Record<string, Quota>;

export type Resource = keyof typeof resources;

export const resourceNames = Object.keys(resources) as Resource[];

export const isResource = (name: string): name is Resource => Object.hasOwn(resources, name);

/** The quota of an installation or a workspace that sets no other. */
export const quotaDefault = (resource: Resource): number => resources[resource].quota;

/** The largest quota of a resource that may be set. */
export function quotaMost(resource: Resource): number {
  const { most = Number.MAX_SAFE_INTEGER }: Quota = resources[resource];
  return most;
}

export const retryMsOf = (resource: Resource): number => {
  const { retryMs = 3_600_000 }: Quota = resources[resource];
  return retryMs;
};
