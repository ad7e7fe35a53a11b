import { setTimeout as sleep } from 'node:timers/promises';
import { progressBar } from './progress.ts';
import { type DemoJob, templateId, variations } from './story.ts';

export type DemoBroadcast = {
  id: string;
  status: string;
  enqueued_count: number;
  test_phase_recipient_count: number;
  sent_count: number;
  failed_count: number;
  skipped_count: number;
  pause_reason?: string;
  page_url?: string;
  test_settings: { variations: { template_id: string; metrics?: { recipients: number } }[] };
};

/** A broadcast of the demo. */
export type RunningBroadcast = {
  id: string;
  read(): Promise<DemoBroadcast>;
  act(action: string, more?: object): Promise<unknown>;
};

const pollMs = 100;
const pauseMs = 1_500;
const sendMsMax = 5 * 60_000;
const samplePercentage = 20;

/** An A/B test of both templates on a fifth of the list; a person is to choose the winner. */
export async function startTest(job: DemoJob, listId: string): Promise<RunningBroadcast> {
  const running = await createBroadcast(job, {
    name: `Spring newsletter ${job.run}`,
    audience: { list: listId, exclude_unsubscribed: true },
    test_settings: {
      enabled: true,
      sample_percentage: samplePercentage,
      auto_send_winner: false,
      variations: variations.map((variation) => ({
        template_id: templateId(job, variation),
        variation_name: variation.name,
      })),
    },
    utm_parameters: { source: 'newsletter', medium: 'email', campaign: 'spring' },
  });
  await running.act('schedule', { send_now: true });
  const { page_url: page } = await running.read();
  if (page) console.log(`  Follow it ${page}\n`);
  return running;
}

/** A draft. */
export async function createBroadcast(
  { api, workspaceId }: DemoJob,
  content: object,
): Promise<RunningBroadcast> {
  const key = { workspace_id: workspaceId };
  const body = { ...key, ...content };
  const { broadcast } = await api<{ broadcast: DemoBroadcast }>('broadcasts.create', { body });
  const { id } = broadcast;
  return {
    id,
    read: async () =>
      (await api<{ broadcast: DemoBroadcast }>('broadcasts.get', { query: { ...key, id } }))
        .broadcast,
    act: (action, more = {}) => api(`broadcasts.${action}`, { body: { ...key, id, ...more } }),
  };
}

/** Shows the progress of a broadcast without a test until it is over. */
export async function watchAll({ read }: RunningBroadcast): Promise<DemoBroadcast> {
  const bar = progressBar('Letter');
  return watch(read, (broadcast) => {
    const { status, enqueued_count: total } = broadcast;
    bar.show(outcomes(broadcast), { total, note: status });
    if (isDone(status)) bar.end();
    return isDone(status);
  });
}

const isDone = (status: string) => ['sent', 'failed', 'cancelled'].includes(status);

/** Shows the progress of the sample until the test waits for a choice. */
export async function watchTest({ read }: RunningBroadcast): Promise<DemoBroadcast> {
  const bar = progressBar('Testing');
  return watch(read, (broadcast) => {
    const { status, test_phase_recipient_count: total } = broadcast;
    bar.show(outcomes(broadcast), { total, note: status });
    const isOver = status === 'test_completed' || isDone(status);
    if (isOver) bar.end();
    return isOver;
  });
}

/** Shows the progress of the rest, and pauses and resumes once on the way. */
export async function watchRest({ read, act }: RunningBroadcast): Promise<DemoBroadcast> {
  const bar = progressBar('Sending');
  let hasPaused = false;
  return watch(read, async (broadcast) => {
    const { status, enqueued_count: total, test_phase_recipient_count: sample } = broadcast;
    const value = outcomes(broadcast);
    bar.show(value, { total, note: status });
    if (!hasPaused && status === 'winner_selected' && value > sample) {
      hasPaused = true;
      if (await pause(act)) {
        await sleep(pauseMs);
        bar.show(outcomes(await read()), { total, note: 'paused by a person' });
        await sleep(pauseMs);
        await act('resume');
      }
    }
    if (isDone(status)) bar.end();
    return isDone(status);
  });
}

/** A fast machine may be done before the pause arrives. */
async function pause(act: RunningBroadcast['act']): Promise<boolean> {
  try {
    await act('pause');
    return true;
  } catch {
    return false;
  }
}

const outcomes = ({ sent_count, failed_count, skipped_count }: DemoBroadcast) =>
  sent_count + failed_count + skipped_count;

async function watch(
  read: RunningBroadcast['read'],
  isOver: (broadcast: DemoBroadcast) => boolean | Promise<boolean>,
): Promise<DemoBroadcast> {
  const untilMs = Date.now() + sendMsMax;
  while (Date.now() < untilMs) {
    const broadcast = await read();
    if (await isOver(broadcast)) return broadcast;
    await sleep(pollMs);
  }
  throw new Error('the broadcast was not sent in time');
}
