import { setTimeout as sleep } from 'node:timers/promises';
import type { DemoBroadcast, RunningBroadcast } from './broadcast.ts';
import { createBroadcast, watchAll } from './broadcast.ts';
import { readContacts } from './contacts-file.ts';
import type { ReaderTotals } from './readers.ts';
import { type DemoJob, letterId, templateId, variations } from './story.ts';

/** How many the segment should have, and had. */
export type SegmentOutcome = { expected: number; estimated: number; sent: number };

type Segment = { id: string; name: string; status: string; users_count: number };

const zonePrefix = 'Europe/';
const name = 'opened the test, lives in Europe';
const pollMs = 100;
const builtMsMax = 60_000;

/** Makes the segment through the API, counts its contacts, and sends them a letter. */
export async function writeToReaders(
  job: DemoJob,
  { listId, reads }: { listId: string; reads: Record<string, ReaderTotals> },
): Promise<SegmentOutcome> {
  const segment = await givenSegment(job);
  const expected = countReaders(reads);
  const built = await untilBuilt(job, segment.id);
  const audience = { list: listId, segments: [segment.id] };
  const body = { workspace_id: job.workspaceId, audience };
  const { count } = await job.api<{ count: number }>('broadcasts.estimateAudience', { body });
  console.log(`  Segment   “${name}” has ${built.users_count} contacts`);
  const letter = await send(job, audience);
  return { expected, estimated: count, sent: letter.sent_count };
}

/** Deletes the segments of earlier runs. */
export async function forgetSegments({ api, workspaceId }: DemoJob): Promise<void> {
  const key = { workspace_id: workspaceId };
  const { segments } = await api<{ segments: Segment[] }>('segments.list', { query: key });
  const ours = segments.filter((segment) => segment.name === name && segment.status !== 'deleted');
  for (const { id } of ours) await api('segments.delete', { body: { ...key, id } });
}

async function givenSegment(job: DemoJob): Promise<Segment> {
  const { api, workspaceId, run } = job;
  const opened = variations.map((variation) =>
    leaf('contact_timeline', {
      contact_timeline: {
        kind: 'open_email',
        count_operator: 'at_least',
        count_value: 1,
        template_id: templateId(job, variation),
      },
    }),
  );
  const livesInEurope = leaf('contacts', {
    contact: {
      filters: [
        {
          field_name: 'timezone',
          field_type: 'string',
          operator: 'contains',
          string_values: [zonePrefix],
        },
      ],
    },
  });
  const tree = branch('and', branch('or', ...opened), livesInEurope);
  const body = {
    ...{ workspace_id: workspaceId, id: `readers_${run}`, name, color: 'orange' },
    ...{ tree, timezone: 'Europe/Paris' },
  };
  return (await api<{ segment: Segment }>('segments.create', { body })).segment;
}

const leaf = (source: string, condition: object) => ({
  kind: 'leaf',
  leaf: { source, ...condition },
});
const branch = (operator: 'and' | 'or', ...leaves: object[]) => ({
  kind: 'branch',
  branch: { operator, leaves },
});

async function untilBuilt({ api, workspaceId }: DemoJob, id: string): Promise<Segment> {
  const untilMs = Date.now() + builtMsMax;
  for (;;) {
    const query = { workspace_id: workspaceId, id };
    const { segment } = await api<{ segment: Segment }>('segments.get', { query });
    if (segment.status === 'active') return segment;
    if (Date.now() > untilMs) throw new Error(`the segment is still ${segment.status}`);
    await sleep(pollMs);
  }
}

/** By the file and by who opened a mail, without asking Postrider. */
function countReaders(reads: Record<string, ReaderTotals>): number {
  const zones = new Map(readContacts().map(({ email, timezone }) => [email, timezone]));
  const readers = new Set(Object.values(reads).flatMap(({ openedBy }) => openedBy));
  return [...readers].filter((email) => `${zones.get(email)}`.startsWith(zonePrefix)).length;
}

async function send(job: DemoJob, audience: object): Promise<DemoBroadcast> {
  const running: RunningBroadcast = await createBroadcast(job, {
    name: `Letter to early readers ${job.run}`,
    audience,
    test_settings: { variations: [{ template_id: letterId(job), variation_name: 'Letter' }] },
  });
  await running.act('schedule', { send_now: true });
  return watchAll(running);
}
