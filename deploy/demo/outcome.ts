import type { DemoBroadcast } from './broadcast.ts';
import { json } from './readers.ts';
import type { StackSettings } from './running-stack.ts';
import type { SegmentOutcome } from './segment.ts';
import { type DemoJob, type Imported, templateId, variations } from './story.ts';
import { compare, type Expected, pageOf, type ReceivedWebhook } from './webhooks.ts';

export type DemoOutcome = {
  facts: [string, number][];
  problems: string[];
  links: [string, string][];
};

type Run = {
  imported: Imported;
  broadcast: DemoBroadcast;
  segment: SegmentOutcome;
  webhooks: { expected: Expected; counts: ReceivedWebhook };
};
type Stats = { stats: { total_sent: number; total_failed: number; total_unknown: number } };
type Counts = { total: number; recipients: number };
type Mails = { mails: { id: number }[] };

/** Compares the numbers of the API with the mails and webhooks that arrived. */
export async function check(
  job: DemoJob,
  settings: StackSettings,
  { imported, broadcast, segment, webhooks }: Run,
): Promise<DemoOutcome> {
  const { api, workspaceId, run } = job;
  const { INBOX_URL = '', TEMPORAL_UI = '', BASE_URL = '' } = settings;
  const query = { workspace_id: workspaceId, broadcast_id: broadcast.id };
  const { stats } = await api<Stats>('messages.broadcastStats', { query });
  const inbox = await json<Counts>(`${INBOX_URL}/api/counts?subject=${run}`);
  const { mails } = await json<Mails>(`${INBOX_URL}/api/mails?subject=${run}&limit=1`);
  const facts: DemoOutcome['facts'] = [
    ['contacts imported', imported.good],
    ['recipients', broadcast.enqueued_count],
    ['sent, says the broadcast', broadcast.sent_count],
    ['sent, says the history', stats.total_sent],
    ['mails in the inbox', inbox.total],
    ['people who got one', inbox.recipients],
  ];
  const problems = facts
    .filter(([, count]) => count !== imported.good)
    .map(([name, count]) => `${name}: ${count} instead of ${imported.good}`);
  for (const [name, arrived, sent] of await countVariations(job, INBOX_URL, broadcast)) {
    facts.push([`of them “${name}”`, arrived]);
    if (arrived !== sent) problems.push(`${name}: ${arrived} arrived, ${sent} sent`);
  }
  facts.push(
    ['in the segment, says the estimate', segment.estimated],
    ['of them got the letter', segment.sent],
  );
  for (const count of [segment.estimated, segment.sent]) {
    if (count !== segment.expected)
      problems.push(`the segment: ${count} instead of ${segment.expected}`);
  }
  if (broadcast.status !== 'sent') problems.push(`the broadcast is ${broadcast.status}`);
  const received = compare(webhooks.expected, webhooks.counts);
  const workflow = encodeURIComponent(`broadcast/${workspaceId}/${broadcast.id}`);
  return {
    facts: [...facts, ['contacts that were new', imported.created], ...received.facts],
    problems: [...problems, ...received.problems],
    links: [
      ['Broadcast', broadcast.page_url ?? ''],
      ['Workflow', `${TEMPORAL_UI}/namespaces/default/workflows/${workflow}`],
      ['A mail', `${INBOX_URL}/mails/${mails[0]?.id ?? ''}`],
      ['Webhooks', pageOf(job, settings)],
      ['API', `${BASE_URL}/api/broadcasts.get?workspace_id=${workspaceId}&id=${broadcast.id}`],
    ],
  };
}

/** Mails of each variation that arrived, and the number that the broadcast reports as sent. */
async function countVariations(
  job: DemoJob,
  inboxUrl: string,
  broadcast: DemoBroadcast,
): Promise<[string, number, number][]> {
  return Promise.all(
    variations.map(async (variation): Promise<[string, number, number]> => {
      const search = new URLSearchParams({ subject: `${variation.subject} [${job.run}]` });
      const { total } = await json<Counts>(`${inboxUrl}/api/counts?${search}`);
      const { metrics } =
        broadcast.test_settings.variations.find(
          ({ template_id: id }) => id === templateId(job, variation),
        ) ?? {};
      return [variation.name, total, metrics?.recipients ?? 0];
    }),
  );
}

export function report({ facts, problems, links }: DemoOutcome): void {
  console.log('');
  for (const [name, count] of facts) console.log(`  ${String(count).padStart(6)}  ${name}`);
  console.log('');
  for (const [name, url] of links) console.log(`  ${name.padEnd(9)} ${url}`);
  console.log(
    problems.length === 0
      ? '\nEverybody got the newsletter exactly once, and every event came as a signed webhook.'
      : `\n${problems.join('\n')}`,
  );
}
