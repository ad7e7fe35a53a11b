import { setTimeout as sleep } from 'node:timers/promises';
import { fast, givenBroadcast, readBroadcast, sendNow, setRate } from '../stack/given.ts';
import type { TestStack } from '../stack.ts';
import { check, type Sent, type Verdict } from './checker.ts';
import { troubles } from './database-troubles.ts';
import { duplicate } from './duplicate.ts';
import type { Fault, Happened } from './schedule.ts';
import { givenSegmentBroadcast } from './segment.ts';

export type ChaosOptions = {
  recipients: number;
  /** Sends to segments made from this seed instead of a list. */
  segmentSeed?: number;
  ratePerMinute: number;
  /** Delay of the answers of the sink. */
  latencyMs: number;
  schedule: readonly Fault[];
  /** The longest time from the last fault to the end. */
  settleMsMax: number;
  fakeDuplicate: boolean;
  say: (line: string) => void;
};

export type ChaosReport = Verdict & { faults: Happened[]; seconds: number };

const pollEveryMs = 250;

/**
 * Sends one broadcast while the schedule's faults happen, waits for its end and checks the result.
 */
export async function runChaos(stack: TestStack, options: ChaosOptions): Promise<ChaosReport> {
  const { say, recipients, segmentSeed: seed } = options;
  const sent: Sent = await (seed === undefined
    ? givenBroadcast(stack, recipients)
    : givenSegmentBroadcast(stack, { recipients, seed }));
  await setRate(stack, options.ratePerMinute);
  await stack.sink.behave({ latencyMs: options.latencyMs });
  await sendNow(stack, sent.id);
  const startedAtMs = Date.now();
  const ended = new AbortController();
  const faults: Happened[] = [];
  const clock = (): string => `${((Date.now() - startedAtMs) / 1_000).toFixed(1).padStart(6)} s`;
  const note = async (line: string): Promise<void> => {
    const { recipients: mailed } = await stack.sink.status();
    say(`${clock()}  ${String(mailed).padStart(6)} mails  ${line}`);
  };
  const injecting = inject(stack, options.schedule, ended.signal, async (fault) => {
    faults.push(fault);
    await note(
      `${fault.action} ${fault.name}${fault.forMs ? ` for ${fault.forMs / 1_000} s` : ''}`,
    );
  });
  const lastFaultMs = Math.max(0, ...options.schedule.map((each) => each.afterMs + each.forMs));
  const giveUpAtMs = startedAtMs + lastFaultMs + options.settleMsMax;
  const status = await watch(stack, sent.id, giveUpAtMs, note);
  ended.abort();
  await injecting;
  await stack.untilServing();
  const seconds = (Date.now() - startedAtMs) / 1_000;
  say(`${clock()}  ended ${status}`);
  await setRate(stack, fast);
  await stack.sink.behave({ latencyMs: 0 });
  if (options.fakeDuplicate) await duplicate(stack, sent);
  return { ...(await check(stack, sent, faults)), faults, seconds };
}

/** Polls the status until the broadcast is over, without helping it. */
export async function watch(
  stack: TestStack,
  id: string,
  giveUpAtMs: number,
  note: (line: string) => Promise<void>,
): Promise<string> {
  let last = '';
  while (Date.now() < giveUpAtMs) {
    const broadcast = await readBroadcast(stack, id).catch(() => undefined);
    if (broadcast && broadcast.status !== last) {
      last = broadcast.status;
      const reason = broadcast.pause_reason ? ` (${broadcast.pause_reason})` : '';
      await note(`broadcast is ${last}${reason}`);
    }
    if (['sent', 'failed', 'cancelled'].includes(last)) return last;
    await sleep(pollEveryMs);
  }
  return `${last} when the time was up`;
}

/** Causes the faults of the schedule until the broadcast is over. */
async function inject(
  stack: TestStack,
  schedule: readonly Fault[],
  ended: AbortSignal,
  happened: (fault: Happened) => Promise<void>,
): Promise<void> {
  const startedAtMs = Date.now();
  const lasting: Promise<void>[] = [];
  for (const fault of schedule) {
    const waitMs = Math.max(0, startedAtMs + fault.afterMs - Date.now());
    await sleep(waitMs, undefined, { signal: ended }).catch(() => {});
    if (ended.aborted) break;
    const { connections } = await stack.sink.status();
    lasting.push(happen(stack, fault, ended));
    await happened({ ...fault, connections });
  }
  await Promise.all(lasting);
}

/** Resolves when the fault is over; a broadcast that ends meanwhile ends it, too. */
async function happen(stack: TestStack, fault: Fault, ended: AbortSignal): Promise<void> {
  const { processes, databaseUrl } = stack;
  const { action, name, forMs } = fault;
  const over = () => sleep(forMs, undefined, { signal: ended }).catch(() => {});
  if (action === 'kill') return processes.kill(name);
  if (action !== 'freeze') return troubles[action](databaseUrl, over);
  processes.freeze(name);
  await over();
  processes.thaw(name);
}
