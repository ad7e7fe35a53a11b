import { setTimeout as sleep } from 'node:timers/promises';
import { good, unique } from '../stack/given.ts';
import type { TestStack } from '../stack.ts';
import { followHealth, type Hardships, patientCall } from './client.ts';
import type { Fleet } from './fleet.ts';

export type Load = {
  /** Ends the load and waits for its last answers. */
  stop(): Promise<Result>;
};

export type Result = Hardships & {
  requests: number;
  /** Answers below 500 that were no success either. */
  unexpected: string[];
  /** Addresses whose transactional mail was accepted. */
  accepted: string[];
  /**
   * Milliseconds from the moment a request was due to its last answer, from the shortest to the
   * longest.
   */
  tookMs: number[];
};

export type Kind = (stack: TestStack, number: number) => [operation: string, body?: object];

const read =
  (operation: string): Kind =>
  () => [operation];

/** One operation of each service and more of the busy ones; every second request writes. */
export function kindsOf(notification: string): Kind[] {
  const upsert: Kind = ({ workspaceId }, number) => [
    'contacts.upsert',
    {
      workspace_id: workspaceId,
      contact: { email: `load${number}@example.com`, first_name: String(number) },
    },
  ];
  const send: Kind = ({ workspaceId }, number) => [
    'transactional.send',
    {
      workspace_id: workspaceId,
      notification: {
        id: notification,
        contact: { email: addressOf(notification, number) },
        channels: ['email'],
        external_id: `${notification}-${number}`,
      },
    },
  ];
  const reads = ['contacts.count', 'templates.list', 'broadcasts.list', 'messages.list'];
  return [
    ...reads.flatMap((operation, at) => [read(operation), at % 2 === 0 ? upsert : send]),
    read('workspaces.list'),
    read('webhookSubscriptions.list'),
  ];
}

const addressOf = (notification: string, number: number) =>
  `${notification}.${number}@example.com`.toLowerCase();

/** Sends requests at a fixed rate, whether earlier ones are answered or not. */
export function startLoad(
  fleet: Fleet,
  { perSecond, kinds }: { perSecond: number; kinds: readonly Kind[] },
): Load {
  const over = new AbortController();
  const { call, hardships } = patientCall(
    fleet.gatewayUrls,
    fleet.settings.TOKEN ?? '',
    followHealth(fleet.gatewayUrls, over.signal),
  );
  const result = { requests: 0, unexpected: [], accepted: [], tookMs: [] } as unknown as Result;
  const open = new Set<Promise<void>>();
  const one = async (number: number, dueAtMs: number): Promise<void> => {
    const [operation, body] = kinds[number % kinds.length]?.(fleet, number) ?? [''];
    const query = { workspace_id: fleet.workspaceId };
    const answer = await call(operation, body, body ? {} : { query }).catch(() => undefined);
    result.tookMs.push(performance.now() - dueAtMs);
    if (!answer) return;
    if (answer.status >= 300) {
      result.unexpected.push(`${operation}: ${answer.status} ${JSON.stringify(answer.body)}`);
    } else if (operation === 'transactional.send') {
      result.accepted.push(emailIn(body));
    }
  };
  const run = async () => {
    const startedAtMs = performance.now();
    for (let number = 0; !over.signal.aborted; number += 1) {
      const dueAtMs = startedAtMs + (number * 1_000) / perSecond;
      await sleep(Math.max(0, dueAtMs - performance.now()));
      const request = one(number, dueAtMs).finally(() => open.delete(request));
      open.add(request);
      result.requests += 1;
    }
  };
  const running = run();
  return {
    async stop() {
      over.abort();
      await running;
      await Promise.all(open);
      return { ...result, ...hardships, tookMs: result.tookMs.toSorted((a, b) => a - b) };
    },
  };
}

function emailIn(body: object | undefined): string {
  return (body as { notification: { contact: { email: string } } }).notification.contact.email;
}

/** A kind of transactional mail. */
export async function givenNotification(
  { call, workspaceId }: TestStack,
  templateId: string,
): Promise<string> {
  const id = unique('load');
  const channels = { email: { template_id: templateId } };
  const body = { workspace_id: workspaceId, notification: { id, name: id, channels } };
  good(await call('transactional.create', body));
  return id;
}
