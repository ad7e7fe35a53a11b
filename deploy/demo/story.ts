import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from './api.ts';
import { type Contact, readContacts } from './contacts-file.ts';
import { progressBar } from './progress.ts';

export type Job = { api: Api; workspaceId: string; run: string };

export type Broadcast = {
  id: string;
  status: string;
  enqueued_count: number;
  sent_count: number;
  failed_count: number;
  skipped_count: number;
  pause_reason?: string;
};

export type Imported = { good: number; bad: { row: number; error: string }[] };

const importSize = 500;
const pollMs = 100;
const pauseShare = 0.3;
const pauseMs = 1_500;
const sendMsMax = 5 * 60_000;

export async function givenList({ api, workspaceId, run }: Job): Promise<string> {
  const id = `riders${run}`;
  const list = { id, name: 'The Postrider', is_public: true, description: 'Letters from the road' };
  await api('lists.create', { body: { workspace_id: workspaceId, ...list } });
  return id;
}

type ImportAnswer = { operations: { action: string; error: string | null }[] };

export async function importContacts(job: Job, listId: string): Promise<Imported> {
  const contacts = readContacts();
  const bar = progressBar('Importing', contacts.length);
  const bad: Imported['bad'] = [];
  for (let first = 0; first < contacts.length; first += importSize) {
    const operations = await importPage(job, listId, contacts.slice(first, first + importSize));
    operations.forEach(({ error }, index) => {
      // The first line of the file is its head.
      if (error !== null) bad.push({ row: first + index + 2, error });
    });
    bar.show(first + operations.length);
  }
  bar.end(contacts.length, `${bad.length} bad rows`);
  for (const { row, error } of bad) console.log(`            line ${row}: ${error}`);
  return { good: contacts.length - bad.length, bad };
}

async function importPage({ api, workspaceId }: Job, listId: string, contacts: Contact[]) {
  const body = { workspace_id: workspaceId, contacts, subscribe_to_lists: [listId] };
  const { operations } = await api<ImportAnswer>('contacts.import', { body });
  return operations;
}

export async function givenTemplate({ api, workspaceId, run }: Job): Promise<string> {
  const id = `newsletter-${run}`;
  const mjml = readFileSync(join(import.meta.dirname, 'newsletter.mjml'), 'utf8');
  await api('templates.create', {
    body: {
      workspace_id: workspaceId,
      id,
      name: 'Spring newsletter',
      channel: 'email',
      category: 'marketing',
      email: {
        editor_mode: 'code',
        mjml_source: mjml,
        subject: `{{ contact.first_name | default: "Friend" }}, the spring timetable is here [${run}]`,
        subject_preview: 'Earlier stations, a drier saddlebag, and your questions answered',
      },
    },
  });
  console.log('  Template  compiled from MJML');
  return id;
}

export async function sendWithPause(
  { api, workspaceId, run }: Job,
  { listId, templateId }: { listId: string; templateId: string },
): Promise<Broadcast> {
  const key = { workspace_id: workspaceId };
  const body = {
    ...key,
    name: `Spring newsletter ${run}`,
    audience: { list: listId, exclude_unsubscribed: true },
    test_settings: {
      enabled: false,
      variations: [{ template_id: templateId, variation_name: 'Spring' }],
    },
    utm_parameters: { source: 'newsletter', medium: 'email', campaign: 'spring' },
  };
  const created = await api<{ broadcast: Broadcast }>('broadcasts.create', { body });
  const id = created.broadcast.id;
  const read = async () =>
    (await api<{ broadcast: Broadcast }>('broadcasts.get', { query: { ...key, id } })).broadcast;
  const act = (deed: string, more = {}) =>
    api(`broadcasts.${deed}`, { body: { ...key, id, ...more } });
  await act('schedule', { send_now: true });
  return watch(read, act);
}

/** Shows the progress, and pauses and resumes once on the way. */
async function watch(
  read: () => Promise<Broadcast>,
  act: (deed: string) => Promise<unknown>,
): Promise<Broadcast> {
  const untilMs = Date.now() + sendMsMax;
  let bar: ReturnType<typeof progressBar> | undefined;
  let hasPaused = false;
  while (Date.now() < untilMs) {
    const broadcast = await read();
    const { status, enqueued_count: total, sent_count: sent } = broadcast;
    if (total > 0) bar ??= progressBar('Sending', total);
    bar?.show(sent + broadcast.failed_count + broadcast.skipped_count, status);
    if (status === 'sent' || status === 'failed') {
      bar?.end(sent + broadcast.failed_count + broadcast.skipped_count, status);
      return broadcast;
    }
    if (status === 'sending' && !hasPaused && sent > total * pauseShare) {
      hasPaused = true;
      await pauseAWhile(read, act, bar);
    }
    await sleep(pollMs);
  }
  throw new Error('the broadcast was not sent in time');
}

async function pauseAWhile(
  read: () => Promise<Broadcast>,
  act: (deed: string) => Promise<unknown>,
  bar: ReturnType<typeof progressBar> | undefined,
): Promise<void> {
  try {
    await act('pause');
  } catch {
    // A fast machine may be done before the pause arrives.
    return;
  }
  await sleep(pauseMs);
  const { sent_count: sent } = await read();
  bar?.show(sent, 'paused by a person');
  await sleep(pauseMs);
  await act('resume');
}
