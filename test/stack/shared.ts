import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll } from '@jest/globals';
import { checkEvents } from '../setup/published-events.ts';
import { openStack, stackFolder, stacksMax, startStack, type TestStack } from '../stack.ts';
import { fast, good, setRate } from './given.ts';
import { deleteWebhook } from './webhooks.ts';

/** A stack may have to start first, or all are with files that take minutes. */
const borrowMsMax = 10 * 60_000;
const askAgainMs = 200;

/**
 * One of the stacks of the run, for one test file at a time, since they break things. The first
 * file that finds none free starts it; test/setup/stop.ts ends it. It is available from the first
 * test of the file to the last.
 */
export function borrowedStack(): TestStack {
  const stack = {} as TestStack;
  let borrowed: TestStack | undefined;
  let folder = '';
  beforeAll(async () => {
    folder = await freeFolder();
    borrowed = await openOrStart(folder);
    Object.assign(stack, borrowed);
  }, borrowMsMax);
  afterAll(async () => {
    try {
      await restore(borrowed);
    } finally {
      giveBack(folder);
    }
  }, 60_000);
  return stack;
}

/** Resolves when this process alone has a stack: a running one if there is a choice. */
async function freeFolder(): Promise<string> {
  for (;;) {
    const all = Array.from({ length: stacksMax }, (_, at) => stackFolder(at + 1));
    const folder = all.toSorted((a, b) => Number(isRunning(b)) - Number(isRunning(a))).find(take);
    if (folder !== undefined) return folder;
    await sleep(askAgainMs);
  }
}

const isRunning = (folder: string): boolean => existsSync(`${folder}/ready.json`);
const holderFile = (folder: string): string => `${folder}.holder`;

function take(folder: string): boolean {
  try {
    writeFileSync(holderFile(folder), String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    if (!isHeld(folder)) giveBack(folder);
    return false;
  }
}

function isHeld(folder: string): boolean {
  try {
    process.kill(Number(readFileSync(holderFile(folder), 'utf8')), 0);
    return true;
  } catch {
    return false;
  }
}

function giveBack(folder: string): void {
  rmSync(holderFile(folder), { force: true });
}

async function openOrStart(folder: string): Promise<TestStack> {
  if (isRunning(folder)) return openStack(folder);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o711 });
  return startStack({ folder, parentPid: Number(process.env.TEST_RUN_PID) });
}

/** For the next file. */
async function restore(stack: TestStack | undefined): Promise<void> {
  await stack?.untilServing();
  await stack?.sink.behave({ latencyMs: 0, replies: [], paused: false, credentials: null });
  if (stack) await removeSubscriptions(stack);
  if (stack) await setRate(stack, fast);
  if (stack) await checkEvents(stack.databaseUrl);
}

/** One that a file leaves would keep the events of later files. */
async function removeSubscriptions(stack: TestStack): Promise<void> {
  const query = { workspace_id: stack.workspaceId, limit: '1000' };
  const { subscriptions } = good(
    await stack.call('webhookSubscriptions.list', undefined, { query }),
  );
  for (const each of subscriptions) await deleteWebhook(stack, each);
}
