import { setTimeout as sleep } from 'node:timers/promises';
import { createTransport, type Transporter } from 'nodemailer';
import pg from 'pg';
import { fast, setRate, unique } from '../../stack/given.ts';
import type { TestStack } from '../../stack.ts';
import { boundOf } from '../checker.ts';
import type { Fault, Happened } from '../schedule.ts';

export type RelayChaosOptions = {
  perSecond: number;
  forMs: number;
  schedule: readonly Fault[];
  /** The longest time from the last 250 to the end. */
  settleMsMax: number;
  say: (line: string) => void;
};

/** `twice`: mails of a message that came again. */
export type RelayReport = {
  accepted: number;
  lost: number;
  twice: number;
  bound: number;
  kills: number;
  seconds: number;
  problems: string[];
};

const againMs = 200;
const lookMs = 500;
const connections = 10;
/** Long enough that a kill finds mails in flight. */
const latencyMs = 50;

/**
 * Sends mails by SMTP while processes are killed; each is repeated until it has its 250. One of ten
 * has no key, so that its repeats are messages of their own.
 */
export async function runRelayChaos(
  stack: TestStack,
  { perSecond, forMs, schedule, settleMsMax, say }: RelayChaosOptions,
): Promise<RelayReport> {
  const startedAtMs = Date.now();
  await setRate(stack, fast);
  const transport = openTransport(stack);
  await stack.sink.behave({ latencyMs });
  const killing = killAll(stack, schedule, say);
  const name = unique('relay');
  const sending: Promise<Sent>[] = [];
  for (let number = 0; number < (perSecond * forMs) / 1_000; number += 1) {
    await sleep(Math.max(0, startedAtMs + (number * 1_000) / perSecond - Date.now()));
    sending.push(sendOne(transport, `${name}-${number}@example.com`, number));
  }
  const faults = await killing;
  const accepted = await Promise.all(sending);
  transport.close();
  say(`${accepted.length} mails are accepted`);
  const counts = await settle(stack, accepted, settleMsMax);
  await stack.sink.behave({ latencyMs: 0 });
  const lost = accepted.filter(({ to }) => !counts.has(to)).length;
  const keyed = accepted.filter(({ isKeyed }) => isKeyed);
  const twice = keyed.reduce((sum, { to }) => sum + Math.max(0, (counts.get(to) ?? 0) - 1), 0);
  const bound = boundOf(faults, stack.hasJournal);
  const messages = await messagesTo(
    stack,
    keyed.map(({ to }) => to),
  );
  const problems = [
    ...(lost > 0 ? [`${lost} mails that had their 250 never came`] : []),
    ...(twice > bound ? [`${twice} came twice, more than ${bound}`] : []),
    ...(messages > keyed.length
      ? [`${keyed.length} mails with keys are ${messages} messages`]
      : []),
  ];
  const seconds = (Date.now() - startedAtMs) / 1_000;
  return { accepted: accepted.length, lost, twice, bound, kills: faults.length, seconds, problems };
}

/** The address of a sender of the stack's workspace. */
const from = 'hello@example.com';

/** Connections that send by the key of the stack's workspace. */
function openTransport({ settings }: TestStack) {
  const { hostname: host, port } = new URL(settings.RELAY_URL ?? '');
  return createTransport({
    ...{ pool: true, maxConnections: connections, maxMessages: 1_000, host, port: Number(port) },
    ...{ tls: { rejectUnauthorized: false }, auth: { user: 'any', pass: settings.TOKEN ?? '' } },
  });
}

type Sent = { to: string; isKeyed: boolean };

async function sendOne(
  transport: Pick<Transporter, 'sendMail'>,
  to: string,
  number: number,
): Promise<Sent> {
  const isKeyed = number % 10 !== 0;
  const headers = isKeyed ? { 'Postrider-Idempotency-Key': to } : {};
  for (;;) {
    const mail = { from, to, subject: 'Hi', text: 'Hello', headers };
    if (await transport.sendMail(mail).catch(() => undefined)) return { to, isKeyed };
    await sleep(againMs);
  }
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
