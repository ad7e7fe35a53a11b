import type { DemoApi } from '../deploy/demo/api.ts';
import { progressBar } from '../deploy/demo/progress.ts';
import { newsletter } from './newsletter.ts';

/** A workspace, and who may do everything in it. */
export type Tenant = { api: DemoApi; workspaceId: string };

type Broadcast = { id: string; status: string; pause_reason?: string };

const importSize = 5_000;
const sendMsMax = 5 * 60_000;

export async function importAudience(
  { api, workspaceId }: Tenant,
  recipients: number,
  list = 'bench',
): Promise<void> {
  const key = { workspace_id: workspaceId };
  await api('lists.create', { body: { ...key, id: list, name: 'Bench' } });
  const bar = progressBar('Importing', recipients);
  for (let first = 0; first < recipients; first += importSize) {
    const size = Math.min(importSize, recipients - first);
    const contacts = Array.from({ length: size }, (_, index) => contact(first + index));
    await api('contacts.import', { body: { ...key, contacts, subscribe_to_lists: [list] } });
    bar.show(first + size);
  }
  bar.end();
}

function contact(number: number): object {
  return {
    email: `person${number}@example.com`,
    external_id: `id-${number}`,
    first_name: `Person ${number}`,
    last_name: 'Müller',
    language: number % 3 === 0 ? 'fr' : 'en',
    custom_string_1: 'Ashford',
    custom_number_1: number,
  };
}

export async function givenTemplate(
  { api, workspaceId }: Tenant,
  mjml = newsletter,
): Promise<void> {
  await api('templates.create', {
    body: {
      workspace_id: workspaceId,
      id: 'bench',
      name: 'Bench',
      channel: 'email',
      category: 'marketing',
      email: {
        editor_mode: 'code',
        mjml_source: mjml,
        subject: 'Hello {{ contact.first_name }}',
      },
    },
  });
}

export async function givenBroadcast(
  { api, workspaceId }: Tenant,
  round: number,
  list = 'bench',
): Promise<string> {
  const { broadcast } = await api<{ broadcast: Broadcast }>('broadcasts.create', {
    body: {
      workspace_id: workspaceId,
      name: `Bench ${round}`,
      audience: { list },
      test_settings: { variations: [{ template_id: 'bench' }] },
      utm_parameters: { source: 'bench', medium: 'email' },
    },
  });
  return broadcast.id;
}

/** Throws if the broadcast failed or takes too long. */
export async function isSent(
  { api, workspaceId }: Tenant,
  id: string,
  calledAtMs: number,
): Promise<boolean> {
  const query = { workspace_id: workspaceId, id };
  const { broadcast } = await api<{ broadcast: Broadcast }>('broadcasts.get', { query });
  const { status, pause_reason: reason = '' } = broadcast;
  if (status === 'sent') return true;
  if (status === 'sending' && Date.now() - calledAtMs < sendMsMax) return false;
  throw new Error(`the broadcast is ${status}: ${reason}`);
}
