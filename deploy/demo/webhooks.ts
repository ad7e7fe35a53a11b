import { setTimeout as sleep } from 'node:timers/promises';
import type { DemoBroadcast } from './broadcast.ts';
import { json, type ReaderTotals } from './readers.ts';
import type { StackSettings } from './running-stack.ts';
import type { SegmentOutcome } from './segment.ts';
import type { DemoJob, Imported } from './story.ts';

export type ReceivedWebhook = Tally & { types: Record<string, Tally> };
type Tally = { events: number; distinct: number; verified: number };
type Subscription = { id: string; url: string; secret: string };

const eventTypes = [
  'contact.created',
  'list.subscribed',
  'email.sent',
  'email.opened',
  'email.clicked',
  'segment.joined',
] as const;
export type Expected = Record<(typeof eventTypes)[number], number>;

const pollMs = 200;
const arrivalMsMax = 60_000;

const nameOf = ({ run }: DemoJob) => `demo-${run}`;

/** Subscribes the inbox to what the demo is about to do. */
export async function subscribe(job: DemoJob, settings: StackSettings): Promise<Subscription> {
  const key = { workspace_id: job.workspaceId };
  const name = nameOf(job);
  const url = `${settings.WEBHOOKS_INBOX}/in/${name}`;
  const body = { ...key, name: `Demo ${job.run}`, url, event_types: eventTypes };
  const { subscription } = await job.api<{ subscription: Subscription }>(
    'webhookSubscriptions.create',
    { body },
  );
  const { secret } = subscription;
  const answer = await fetch(`${settings.INBOX_URL}/api/webhooks/${name}/secret`, {
    method: 'PUT',
    body: JSON.stringify({ secret }),
  });
  if (!answer.ok) throw new Error(`the inbox answered ${answer.status} to the secret`);
  console.log(`  Webhooks  of ${eventTypes.length} types go to ${url}`);
  return subscription;
}

/** Deletes the subscriptions of this run, and of earlier ones that were interrupted. */
export async function unsubscribe(
  { api, workspaceId }: DemoJob,
  settings: StackSettings,
): Promise<void> {
  const key = { workspace_id: workspaceId };
  const { subscriptions } = await api<{ subscriptions: Subscription[] }>(
    'webhookSubscriptions.list',
    { query: key },
  );
  const ours = subscriptions.filter(({ url }) =>
    url.startsWith(`${settings.WEBHOOKS_INBOX}/in/demo-`),
  );
  for (const { id } of ours) await api('webhookSubscriptions.delete', { body: { ...key, id } });
}

/** How many events of each type the demo has caused. */
export function expectedOf(
  imported: Imported,
  reads: Record<string, ReaderTotals>,
  { broadcast, segment }: { broadcast: Pick<DemoBroadcast, 'sent_count'>; segment: SegmentOutcome },
): Expected {
  const sum = (what: 'opened' | 'clicked') =>
    Object.values(reads).reduce((total, read) => total + read[what], 0);
  return {
    'contact.created': imported.created,
    'list.subscribed': imported.good,
    'email.sent': broadcast.sent_count + segment.sent,
    'email.opened': sum('opened'),
    'email.clicked': sum('clicked'),
    'segment.joined': segment.expected,
  };
}

/** Waits until all expected events have arrived, or the time is over. */
export async function untilArrived(
  job: DemoJob,
  { INBOX_URL = '' }: StackSettings,
  expected: Expected,
): Promise<ReceivedWebhook> {
  const untilMs = Date.now() + arrivalMsMax;
  for (;;) {
    const counts = await json<ReceivedWebhook>(
      `${INBOX_URL}/api/webhooks/counts?name=${nameOf(job)}`,
    );
    const isComplete = eventTypes.every((type) => distinctOf(counts, type) >= expected[type]);
    if (isComplete || Date.now() > untilMs) return counts;
    await sleep(pollMs);
  }
}

/** The counts for the report, and what does not agree. */
export function compare(expected: Expected, counts: ReceivedWebhook) {
  const { events, distinct, verified } = counts;
  const facts: [string, number][] = [
    ...eventTypes.map((type): [string, number] => [`webhooks ${type}`, distinctOf(counts, type)]),
    [events === verified ? 'webhooks in all, all verified' : 'webhooks in all', distinct],
  ];
  const problems = eventTypes
    .filter((type) => distinctOf(counts, type) !== expected[type])
    .map((type) => `webhooks ${type}: ${distinctOf(counts, type)} instead of ${expected[type]}`);
  if (events !== verified) problems.push(`${events - verified} webhooks could not be verified`);
  if (events !== distinct) facts.push(['of them came again, under the same id', events - distinct]);
  return { facts, problems };
}

const distinctOf = ({ types }: ReceivedWebhook, type: string) => types[type]?.distinct ?? 0;

export function pageOf(job: DemoJob, { WEBHOOKS_INBOX = '' }: StackSettings): string {
  return `${WEBHOOKS_INBOX}?name=${nameOf(job)}`;
}
