import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { fast, setRate, unique } from '../../stack/given.ts';
import type { TestStack } from '../../stack.ts';
import { boundOf } from '../checker.ts';
import type { Fault, Happened } from '../schedule.ts';
import { type ClientMail, openClients, type RelayClient } from './clients.ts';

export type RelayChaosOptions = {
  perSecond: number;
  forMs: number;
  schedule: readonly Fault[];
  /** The longest time from the last 250 to the end. */
  settleMsMax: number;
  say: (line: string) => void;
};

/**
 * `twice`: mails with keys that came again. `repeats`: mails without keys that came again, of which
 * a client has caused at most one by each of its tries.
 */
export type RelayReport = {
  accepted: number;
  /** By client. */
  acceptedBy: Record<string, number>;
  acceptedPerSecond: number;
  lost: number;
  twice: number;
  bound: number;
  repeats: number;
  repeatsMax: number;
  kills: number;
  seconds: number;
  problems: string[];
};

const lookMs = 500;
/** Long enough that a kill finds mails in flight. */
const latencyMs = 50;

/**
 * Sends mails by SMTP while processes are killed, as programs of several kinds do; each is repeated
 * until it has its 250. One of ten has no key, so that its repeats are messages of their own.
 */
export async function runRelayChaos(
  stack: TestStack,
  { perSecond, forMs, schedule, settleMsMax, say }: RelayChaosOptions,
): Promise<RelayReport> {
  await setRate(stack, fast);
  const clients = await openClients(stack, say);
  await stack.sink.behave({ latencyMs });
  const startedAtMs = Date.now();
  const killing = killAll(stack, schedule, say);
  const name = unique('relay');
  const sending: Promise<Sent>[] = [];
  for (let number = 0; number < (perSecond * forMs) / 1_000; number += 1) {
    await sleep(Math.max(0, startedAtMs + (number * 1_000) / perSecond - Date.now()));
    const mail = { to: `${name}-${number}@example.com`, number, isKeyed: number % 10 !== 0 };
    sending.push(sendOne(clientOf(clients, number), mail));
  }
  const faults = await killing;
  const accepted = await Promise.all(sending);
  const acceptedPerSecond = (accepted.length * 1_000) / (Date.now() - startedAtMs);
  say(`${accepted.length} mails are accepted`);
  const counts = await settle(stack, accepted, settleMsMax);
  await Promise.all(clients.map((client) => client.close()));
  await stack.sink.behave({ latencyMs: 0 });
  const lost = accepted.filter(({ to }) => !counts.has(to)).length;
  const again = (some: readonly Sent[]) =>
    some.reduce((sum, { to }) => sum + Math.max(0, (counts.get(to) ?? 0) - 1), 0);
  const keyed = accepted.filter(({ isKeyed }) => isKeyed);
  const keyless = accepted.filter(({ isKeyed }) => !isKeyed);
  const [twice, repeats] = [again(keyed), again(keyless)];
  const bound = boundOf(faults, stack.hasJournal);
  const repeatsMax = bound + keyless.reduce((sum, { tries }) => sum + tries - 1, 0);
  const messages = await messagesTo(
    stack,
    keyed.map(({ to }) => to),
  );
  const problems = [
    ...(lost > 0 ? [`${lost} mails that had their 250 never came`] : []),
    ...(twice > bound ? [`${twice} came twice, more than ${bound}`] : []),
    ...(repeats > repeatsMax
      ? [`${repeats} without keys came again, more than ${repeatsMax}`]
      : []),
    ...(messages > keyed.length
      ? [`${keyed.length} mails with keys are ${messages} messages`]
      : []),
  ];
  const seconds = (Date.now() - startedAtMs) / 1_000;
  const acceptedBy = Object.fromEntries(
    clients.map(({ name: client }) => [
      client,
      accepted.filter((sent) => sent.client === client).length,
    ]),
  );
  const kills = faults.length;
  return {
    ...{ accepted: accepted.length, acceptedBy, acceptedPerSecond, lost, twice, bound },
    ...{ repeats, repeatsMax, kills, seconds, problems },
  };
}

type Sent = ClientMail & { client: string; tries: number };

async function sendOne(client: RelayClient, mail: ClientMail): Promise<Sent> {
  const tries = await client.send(mail);
  // All of Postfix's have keys.
  const isKeyed = mail.isKeyed || client.name === 'postfix';
  return { ...mail, isKeyed, client: client.name, tries };
}

/** The client of a mail, each by its share. */
function clientOf(clients: readonly RelayClient[], number: number): RelayClient {
  const all = clients.reduce((sum, { share }) => sum + share, 0);
  // A step that is prime to the sum, so that clients follow each other.
  let left = (number * 37) % all;
  for (const client of clients) {
    if (left < client.share) return client;
    left -= client.share;
  }
  throw new Error('there is no client');
}

async function killAll(
  stack: TestStack,
  schedule: readonly Fault[],
  say: (line: string) => void,
): Promise<Happened[]> {
  const startedAtMs = Date.now();
  const happened: Happened[] = [];
  for (const fault of schedule) {
    await sleep(Math.max(0, startedAtMs + fault.afterMs - Date.now()));
    const { connections: open } = await stack.sink.status();
    stack.processes.kill(fault.name);
    say(`kill ${fault.name}`);
    happened.push({ ...fault, connections: open });
  }
  return happened;
}

/** How many mails came to each address, once all have one or the time is up. */
async function settle(
  stack: TestStack,
  accepted: readonly Sent[],
  settleMsMax: number,
): Promise<Map<string, number>> {
  const giveUpAtMs = Date.now() + settleMsMax;
  const wanted = new Set(accepted.map(({ to }) => to));
  for (;;) {
    const counts = new Map<string, number>();
    for (const { email } of stack.mails()) {
      if (wanted.has(email)) counts.set(email, (counts.get(email) ?? 0) + 1);
    }
    if (counts.size === wanted.size || Date.now() > giveUpAtMs) return counts;
    await sleep(lookMs);
  }
}

/** How many messages are to these addresses. */
async function messagesTo({ databaseUrl }: TestStack, emails: readonly string[]): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ count: number }>(
      'select count(*)::int from messages.messages where contact_email = any($1)',
      [emails],
    );
    return rows[0]?.count ?? 0;
  } finally {
    await client.end();
  }
}
