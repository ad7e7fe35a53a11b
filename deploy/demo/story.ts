import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DemoApi } from './api.ts';
import { type Contact, readContacts } from './contacts-file.ts';
import { progressBar } from './progress.ts';

export type DemoJob = { api: DemoApi; workspaceId: string; run: string };
/** Its run is part of ids and subjects. */
type Run = Pick<DemoJob, 'run'>;

export type Imported = {
  good: number;
  /** Good rows that were new to the workspace. */
  created: number;
  bad: { row: number; error: string }[];
};

const importSize = 500;

export async function givenList({ api, workspaceId, run }: DemoJob): Promise<string> {
  const id = `riders${run}`;
  const list = { id, name: 'The Postrider', is_public: true, description: 'Letters from the road' };
  await api('lists.create', { body: { workspace_id: workspaceId, ...list } });
  return id;
}

type ImportAnswer = { operations: { action: string; error: string | null }[] };

export async function importContacts(job: DemoJob, listId: string): Promise<Imported> {
  const contacts = readContacts();
  const bar = progressBar('Importing', contacts.length);
  const bad: Imported['bad'] = [];
  let created = 0;
  for (let first = 0; first < contacts.length; first += importSize) {
    const operations = await importPage(job, listId, contacts.slice(first, first + importSize));
    operations.forEach(({ action, error }, index) => {
      if (action === 'create') created += 1;
      // The first line of the file is its header.
      if (error !== null) bad.push({ row: first + index + 2, error });
    });
    bar.show(first + operations.length);
  }
  bar.show(contacts.length, { note: `${bad.length} bad rows` });
  bar.end();
  for (const { row, error } of bad) console.log(`            line ${row}: ${error}`);
  return { good: contacts.length - bad.length, created, bad };
}

async function importPage({ api, workspaceId }: DemoJob, listId: string, contacts: Contact[]) {
  const body = { workspace_id: workspaceId, contacts, subscribe_to_lists: [listId] };
  const { operations } = await api<ImportAnswer>('contacts.import', { body });
  return operations;
}

/** The subject and the label of the button of each variation. */
export const variations = [
  {
    id: 'news',
    name: 'News',
    subject: 'the spring timetable is here',
    button: 'Read the spring timetable',
  },
  {
    id: 'question',
    name: 'Question',
    subject: 'when does your letter leave?',
    button: 'See when it leaves',
  },
] as const;

export const templateId = ({ run }: Run, { id }: (typeof variations)[number]) => `${id}-${run}`;

export const letterId = ({ run }: Run) => `letter-${run}`;

/**
 * The mail to those who opened the test. Its subject has no run, so that it is not counted among
 * the test's mails.
 */
const letter = `<mjml><mj-body><mj-section><mj-column>
<mj-text>Dear {{ contact.first_name | default: "Friend" }}, thank you for reading so early.</mj-text>
<mj-text><a href="{{ unsubscribe_url }}">Leave</a></mj-text>
</mj-column></mj-section></mj-body></mjml>`;

/** The templates of the demo: a newsletter in two variations, and the letter. */
export function templatesOf({ run }: Run) {
  const mjml = readFileSync(join(import.meta.dirname, 'newsletter.mjml'), 'utf8');
  const newsletters = variations.map((variation) => ({
    id: templateId({ run }, variation),
    name: `Spring newsletter: ${variation.name}`,
    email: {
      mjml_source: mjml.replace(variations[0].button, variation.button),
      subject: `{{ contact.first_name | default: "Friend" }}, ${variation.subject} [${run}]`,
      subject_preview: 'Earlier stations, a drier saddlebag, and your questions answered',
    },
  }));
  const email = { mjml_source: letter, subject: 'Thank you for reading', subject_preview: '' };
  return [...newsletters, { id: letterId({ run }), name: 'Letter', email }];
}

export async function givenTemplates(job: DemoJob): Promise<void> {
  const { api, workspaceId } = job;
  for (const { email, ...template } of templatesOf(job)) {
    const content = { channel: 'email', category: 'marketing' };
    const body = { workspace_id: workspaceId, ...template, ...content };
    await api('templates.create', { body: { ...body, email: { editor_mode: 'code', ...email } } });
  }
  console.log(
    `  Templates ${variations.map(({ name }) => name).join(' and ')}, compiled from MJML`,
  );
}
