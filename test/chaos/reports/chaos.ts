import { setTimeout as sleep } from 'node:timers/promises';
import { givenBroadcast, good, sendNow, unique, untilStatus } from '../../stack/given.ts';
import { ownerToken } from '../../stack/owner.ts';
import { until } from '../../stack/until.ts';
import { deleteWebhook, queryStack, subscribe } from '../../stack/webhooks.ts';
import type { TestStack } from '../../stack.ts';
import { type Fault, type Kills, makeKillsInTurn, randomFrom, shuffled } from '../schedule.ts';
import {
  type Outcome,
  type Reported,
  type ReportedEvent,
  type Verdict,
  verdictOf,
} from './checker.ts';

export type ChaosOptions = {
  seed: number;
  messages: number;
  /** Over how long the reports are spread. */
  forMs: number;
  schedule: readonly Fault[];
  /** The longest time from the last report to the end. */
  settleMsMax: number;
  say: (line: string) => void;
};

export type ChaosReport = Verdict & { reports: number; requests: number; seconds: number };

/** Reports pass all of these; messages, which stores and applies them, comes twice as often. */
const names = [
  'gateway',
  'messages',
  'messages-2',
  'postgres',
  'messages',
  'messages-2',
  'webhooks',
];

/** The kills and their times; the same for the same seed. */
export function makeReportKills(kills: Kills): Fault[] {
  return makeKillsInTurn(names, kills);
}

const callers = 8;
const batchMax = 50;
const againMs = 100;
const sendMsMax = 5 * 60_000;
const types = ['email.delivered', 'email.bounced', 'email.complained'];

type Message = { id: string; email: string };
type Line = { id: string; body: object; event: ReportedEvent };

/**
 * Reports deliveries, bounces and complaints of a broadcast in random order while the schedule's
 * kills happen, each again until it is answered and some once more, and checks what they did.
 */
export async function runReportChaos(
  stack: TestStack,
  options: ChaosOptions,
): Promise<ChaosReport> {
  const { seed, say, forMs, schedule } = options;
  const startedAtMs = Date.now();
  await stack.untilServing();
  const subscription = await subscribe(stack, 'http://127.0.0.1:9/nobody', types);
  const broadcast = await givenBroadcast(stack, options.messages);
  await sendNow(stack, broadcast.id);
  await untilStatus(stack, broadcast.id, 'sent', { withinMs: sendMsMax });
  const messages = await queryStack<Message>(
    stack,
    'select id, contact_email as email from messages.messages where broadcast_id = $1 order by email',
    [broadcast.id],
  );
  const url = await register(stack);
  const random = randomFrom(seed);
  const lines = shuffled(
    messages.flatMap((message) => linesOf(message, random)),
    random,
  );
  say(`${messages.length} mails are sent; ${lines.length} reports follow`);
  const killing = killAll(stack, schedule, say);
  const requests = await postAll(url, lines, { forMs, random, say });
  await killing;
  await stack.untilServing();
  const reported = reportedOf(messages, lines);
  const subscriptionId = subscription.id;
  await settle(stack, { messages: reported.length, subscriptionId }, options);
  const observed = await observe(stack, { broadcastId: broadcast.id, subscriptionId, reported });
  await deleteWebhook(stack, subscription);
  const seconds = (Date.now() - startedAtMs) / 1_000;
  return { ...verdictOf(observed), reports: lines.length, requests, seconds };
}

/** The URL with its key to which reports about mails of the workspace are posted. */
async function register({ call, settings, workspaceId }: TestStack): Promise<string> {
  const token = await ownerToken(settings);
  const query = { id: workspaceId };
  const { workspace } = good(await call('workspaces.get', undefined, { query, token }));
  const integration_id = workspace.settings.marketing_email_provider_id;
  const place = { workspace_id: workspaceId, integration_id };
  const { status } = good(await call('webhooks.register', place, { token }));
  return `${settings.BASE_URL}/webhooks/email${new URL(status.endpoints[0].url).search}`;
}

/** A mail is delivered, or its address is dead; some recipients complain. */
function linesOf({ id, email }: Message, random: () => number): Line[] {
  const line = (event: ReportedEvent, more: object = {}): Line => ({
    id,
    event,
    body: { id: unique('report'), event, message_id: id, recipient: email, ...more },
  });
  if (random() < 0.1) return [line('bounce', { diagnostic_code: '550 5.1.1 no such user' })];
  const isSpam = random() < 0.05;
  return [line('delivered'), ...(isSpam ? [line('complaint', { complaint_type: 'abuse' })] : [])];
}

function reportedOf(messages: readonly Message[], lines: readonly Line[]): Reported[] {
  const byId = Map.groupBy(lines, ({ id }) => id);
  return messages.map((message) => ({
    ...message,
    events: byId.get(message.id)?.map(({ event }) => event) ?? [],
  }));
}

/** Posts batches of random size until each is answered 200, and every fourth once more. */
async function postAll(
  url: string,
  lines: readonly Line[],
  { forMs, random, say }: { forMs: number; random: () => number; say: (line: string) => void },
): Promise<number> {
  const batches: { lines: readonly Line[]; dueAtMs: number }[] = [];
  const startedAtMs = Date.now();
  for (let first = 0; first < lines.length; ) {
    const size = 1 + Math.floor(random() * batchMax);
    const dueAtMs = startedAtMs + (first / lines.length) * forMs;
    batches.push({ lines: lines.slice(first, first + size), dueAtMs });
    first += size;
  }
  let requests = 0;
  const post = async (batch: readonly Line[]): Promise<number> => {
    requests += 1;
    const body = JSON.stringify(batch.map((line) => line.body));
    const answer = await fetch(url, { method: 'POST', body }).catch(() => undefined);
    await answer?.arrayBuffer().catch(() => undefined);
    return answer?.status ?? 0;
  };
  let next = 0;
  const caller = async () => {
    for (let at = next++; at < batches.length; at = next++) {
      const { lines: batch = [], dueAtMs = 0 } = batches[at] ?? {};
      await sleep(Math.max(0, dueAtMs - Date.now()));
      let status = await post(batch);
      for (; status !== 200; status = await post(batch)) {
        if (status !== 503 && status !== 0) throw new Error(`reports were answered ${status}`);
        await sleep(againMs);
      }
      if (at % 4 === 0) await post(batch);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  say(`all reports are answered, in ${requests} requests`);
  return requests;
}

async function killAll(
  stack: TestStack,
  schedule: readonly Fault[],
  say: (line: string) => void,
): Promise<void> {
  const startedAtMs = Date.now();
  for (const { afterMs, name } of schedule) {
    await sleep(Math.max(0, startedAtMs + afterMs - Date.now()));
    say(`${(afterMs / 1_000).toFixed(1).padStart(6)} s  kill ${name}`);
    stack.processes.kill(name);
  }
}

/** Waits until no report is due, and webhooks has an event of each message. */
async function settle(
  stack: TestStack,
  { messages, subscriptionId }: { messages: number; subscriptionId: string },
  { settleMsMax, say }: ChaosOptions,
): Promise<void> {
  const isOver = async () => {
    const [row] = await queryStack<{ due: number }>(
      stack,
      `select (select count(*) from messages.inbound_requests)::int
         + (select count(*) from messages.inbound_reports where due_at is not null)::int as due`,
    );
    const known = new Set((await eventsOf(stack, subscriptionId)).map(({ id }) => id));
    return row?.due === 0 && known.size >= messages;
  };
  // The checker finds the reports that are missing then.
  await until('all reports are applied and published', isOver, { withinMs: settleMsMax }).catch(
    (error: Error) => say(error.message),
  );
}

async function observe(
  stack: TestStack,
  {
    broadcastId,
    subscriptionId,
    reported,
  }: { broadcastId: string; subscriptionId: string; reported: readonly Reported[] },
) {
  const outcomes = await queryStack<Outcome>(
    stack,
    `select m.id, delivered_at is not null as delivered, bounced_at is not null as bounced,
       complained_at is not null as complained,
       exists (select from messages.suppressions s where s.workspace_id = m.workspace_id and s.email = m.contact_email) as suppressed
     from messages.messages m where broadcast_id = $1`,
    [broadcastId],
  );
  const [counts] = await queryStack<{ delivered: number; bounced: number; complained: number }>(
    stack,
    `select sum(delivered)::int as delivered, sum(bounced)::int as bounced, sum(complained)::int as complained
     from messages.variation_counts where broadcast_id = $1`,
    [broadcastId],
  );
  const events = await eventsOf(stack, subscriptionId);
  return {
    ...{ reported, outcomes, events },
    counts: counts ?? { delivered: 0, bounced: 0, complained: 0 },
  };
}

/** The events of the subscription. */
function eventsOf(stack: TestStack, subscriptionId: string) {
  return queryStack<{ id: string; type: string }>(
    stack,
    `select event.payload ->> 'message_id' as id, delivery.event_type as type
     from webhooks.events event join webhooks.deliveries delivery
       on delivery.workspace_id = event.workspace_id and delivery.id = (left(event.id::text, 32) || '0001')::uuid
     where delivery.subscription_id = $1`,
    [subscriptionId],
  );
}
