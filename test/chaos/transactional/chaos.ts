import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { givenTemplate, good, unique } from '../../stack/given.ts';
import type { TestStack } from '../../stack.ts';
import type { Fault, Happened } from '../schedule.ts';
import { type Accepted, type Recorded, type Verdict, verdictOf } from './checker.ts';

export type ChaosOptions = {
  perSecond: number;
  forMs: number;
  schedule: readonly Fault[];
  /** The longest time from the last call to the end. */
  settleMsMax: number;
  say: (line: string) => void;
};

export type Report = Verdict & { accepted: number; faults: readonly Happened[]; seconds: number };

/** Long enough that a kill finds messages in flight. */
const latencyMs = 100;
const againMs = 200;
const lookMs = 1_000;
/** Callers who wait for an answer. */
const openMax = 500;

/**
 * Sends transactional mail while processes are killed; each caller repeats its call until it has an
 * answer.
 */
export async function runTransactionalChaos(
  stack: TestStack,
  options: ChaosOptions,
): Promise<Report> {
  const startedAtMs = Date.now();
  const say = (line: string): void => {
    const seconds = ((Date.now() - startedAtMs) / 1_000).toFixed(1).padStart(6);
    options.say(`${seconds} s  ${line}`);
  };
  const notification = await givenNotification(stack);
  await stack.sink.behave({ latencyMs });
  const killing = killAll(stack, options.schedule, say);
  const accepted = await sendAll(stack, notification, options);
  const faults = await killing;
  say(`${accepted.length} messages are accepted`);
  const rows = await settle(stack, notification, options.settleMsMax);
  await stack.sink.behave({ latencyMs: 0 });
  const { hasJournal } = stack;
  const verdict = verdictOf({ accepted, mails: stack.mails(), rows, faults, hasJournal });
  const seconds = (Date.now() - startedAtMs) / 1_000;
  return { ...verdict, accepted: accepted.length, faults, seconds };
}

export async function givenNotification(stack: TestStack): Promise<string> {
  const id = unique('chaos').slice(0, 32);
  const templateId = await givenTemplate(stack);
  const channels = { email: { template_id: templateId } };
  const body = { workspace_id: stack.workspaceId, notification: { id, name: id, channels } };
  good(await stack.call('transactional.create', body));
  return id;
}

async function killAll(
  stack: TestStack,
  schedule: readonly Fault[],
  say: (line: string) => void,
): Promise<Happened[]> {
  const startedAtMs = Date.now();
  const happened: Happened[] = [];
  for (const fault of schedule) {
    await sleep(startedAtMs + fault.afterMs - Date.now());
    const { connections } = await stack.sink.status();
    stack.processes.kill(fault.name);
    say(`kill ${fault.name}`);
    happened.push({ ...fault, connections });
  }
  return happened;
}

export async function sendAll(
  stack: TestStack,
  notification: string,
  { perSecond, forMs }: Pick<ChaosOptions, 'perSecond' | 'forMs'>,
): Promise<Accepted[]> {
  const startedAtMs = Date.now();
  const calls: Promise<Accepted>[] = [];
  let open = 0;
  for (let number = 0; number < (perSecond * forMs) / 1_000; number += 1) {
    await sleep(Math.max(0, startedAtMs + (number * 1_000) / perSecond - Date.now()));
    while (open >= openMax) await sleep(againMs);
    open += 1;
    const call = sendOne(stack, notification, number).finally(() => {
      open -= 1;
    });
    calls.push(call);
  }
  return Promise.all(calls);
}

/** Repeats a call until it is answered with success, and now and then once more. */
async function sendOne(stack: TestStack, notification: string, number: number): Promise<Accepted> {
  const externalId = `${notification}-${number}`;
  const email = `${externalId}@example.com`.toLowerCase();
  const message = {
    id: notification,
    contact: { email },
    channels: ['email'],
    external_id: externalId,
  };
  const body = { workspace_id: stack.workspaceId, notification: message };
  const messageIds: string[] = [];
  const wanted = number % 10 === 0 ? 2 : 1;
  while (messageIds.length < wanted) {
    const answer = await stack.call('transactional.send', body).catch(() => undefined);
    if (answer?.status === 200) messageIds.push(String(answer.body.message_id));
    else await sleep(againMs);
  }
  return { email, externalId, messageIds };
}

/** The rows of the record, once all have their outcome or the time is up. */
export async function settle(
  stack: TestStack,
  notification: string,
  settleMsMax: number,
): Promise<Recorded[]> {
  const giveUpAtMs = Date.now() + settleMsMax;
  for (;;) {
    const rows = await readRows(stack, notification).catch(() => undefined);
    const isOver = rows?.every(({ status }) => status === 'sent' || status === 'failed');
    if (rows && (isOver || Date.now() > giveUpAtMs)) return rows;
    await sleep(lookMs);
  }
}

async function readRows({ databaseUrl }: TestStack, notification: string): Promise<Recorded[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<Recorded>(
      'select id, external_id, status from messages.messages where notification_id = $1',
      [notification],
    );
    return rows;
  } finally {
    await client.end();
  }
}
