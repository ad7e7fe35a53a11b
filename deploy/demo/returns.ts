import { setTimeout as sleep } from 'node:timers/promises';
import { type DemoJob, letterId } from './story.ts';

type Returned = { status: string; bounce_class?: string | null };
type Sent = { message_id: string };
type Listed = { message: Returned };

const pollMs = 100;
const returnedMsMax = 20_000;

/** The names that the inbox sends mails back for, and what then becomes of a message. */
const returns: readonly { name: string; means: string; isThere(message: Returned): boolean }[] = [
  { name: 'bounce', means: 'bounced', isThere: ({ status }) => status === 'bounced' },
  { name: 'soft', means: 'full mailbox', isThere: (message) => message.bounce_class === 'soft' },
  { name: 'complaint', means: 'complaint', isThere: ({ status }) => status === 'complained' },
];

export type ReturnOutcome = { facts: [string, number][]; problems: string[] };

/** Sends a letter to each such address, and waits until its report has arrived by SMTP. */
export async function sendAndReturn(job: DemoJob): Promise<ReturnOutcome> {
  const { api, workspaceId, run } = job;
  const key = { workspace_id: workspaceId };
  const id = `returns-${run}`;
  const notification = { id, name: 'Returns', channels: { email: { template_id: letterId(job) } } };
  await api('transactional.create', { body: { ...key, notification } });
  const sent = returns.map(async ({ name, isThere }): Promise<boolean> => {
    const contact = { email: `${name}+${run}@returns.example` };
    const body = { ...key, notification: { id, contact, channels: ['email'] } };
    const { message_id } = await api<Sent>('transactional.send', { body });
    const untilMs = Date.now() + returnedMsMax;
    while (Date.now() < untilMs) {
      const query = { ...key, id: message_id };
      const { message } = await api<Listed>('messages.get', { query });
      if (isThere(message)) return true;
      await sleep(pollMs);
    }
    return false;
  });
  const arrived = await Promise.all(sent);
  return {
    facts: returns.map(({ means }, at) => [`came back: ${means}`, arrived[at] ? 1 : 0]),
    problems: returns.flatMap(({ means }, at) => (arrived[at] ? [] : [`no ${means} came back`])),
  };
}
