import type { Settings } from './running-stack.ts';
import type { Broadcast, Imported, Job } from './story.ts';

export type Outcome = {
  facts: [string, number][];
  problems: string[];
  links: [string, string][];
};

type Stats = { stats: { total_sent: number; total_failed: number; total_unknown: number } };
type Counts = { total: number; recipients: number };
type Mails = { mails: { id: number }[] };

/** Holds what the API says against what arrived. */
export async function check(
  { api, workspaceId, run }: Job,
  { INBOX_URL = '', TEMPORAL_UI = '', BASE_URL = '' }: Settings,
  { imported, broadcast }: { imported: Imported; broadcast: Broadcast },
): Promise<Outcome> {
  const query = { workspace_id: workspaceId, broadcast_id: broadcast.id };
  const { stats } = await api<Stats>('messages.broadcastStats', { query });
  const inbox = await read<Counts>(`${INBOX_URL}/api/counts?subject=${run}`);
  const { mails } = await read<Mails>(`${INBOX_URL}/api/mails?subject=${run}&limit=1`);
  const facts: Outcome['facts'] = [
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
  if (broadcast.status !== 'sent') problems.push(`the broadcast is ${broadcast.status}`);
  const workflow = encodeURIComponent(`broadcast/${workspaceId}/${broadcast.id}`);
  return {
    facts,
    problems,
    links: [
      ['Workflow', `${TEMPORAL_UI}/namespaces/default/workflows/${workflow}`],
      ['A mail', `${INBOX_URL}/mails/${mails[0]?.id ?? ''}`],
      ['API', `${BASE_URL}/api/broadcasts.get?workspace_id=${workspaceId}&id=${broadcast.id}`],
    ],
  };
}

async function read<Answer>(url: string): Promise<Answer> {
  const response = await fetch(url);
  return (await response.json()) as Answer;
}

export function report({ facts, problems, links }: Outcome): void {
  console.log('');
  for (const [name, count] of facts) console.log(`  ${String(count).padStart(6)}  ${name}`);
  console.log('');
  for (const [name, url] of links) console.log(`  ${name.padEnd(9)} ${url}`);
  console.log(
    problems.length === 0 ? '\nEverybody got exactly one mail.' : `\n${problems.join('\n')}`,
  );
}
