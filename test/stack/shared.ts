import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { afterAll, beforeAll } from '@jest/globals';
import { checkEvents } from '../setup/published-events.ts';
import { openStack, stackFolder, startStack, type TestStack } from '../stack.ts';
import { fast, setRate } from './given.ts';

/** A stack may have to start first, on a busy machine. */
const borrowMsMax = 5 * 60_000;

/**
 * The stack of a worker of Jest, for one test file at a time, since they break things. The first
 * file starts it; test/setup/stop.ts ends it. It is available from the first test of the file to
 * the last.
 */
export function borrowedStack(): TestStack {
  const stack = {} as TestStack;
  let borrowed: TestStack | undefined;
  beforeAll(async () => {
    borrowed = await borrowStack();
    Object.assign(stack, borrowed);
  }, borrowMsMax);
  afterAll(() => returnStack(borrowed), 60_000);
  return stack;
}

async function borrowStack(): Promise<TestStack> {
  const folder = stackFolder(Number(process.env.JEST_WORKER_ID));
  if (existsSync(`${folder}/ready.json`)) return openStack(folder);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o711 });
  return startStack({ folder, parentPid: Number(process.env.TEST_RUN_PID) });
}

/** Restores the stack for the next file. */
async function returnStack(stack: TestStack | undefined): Promise<void> {
  await stack?.untilServing();
  await stack?.sink.behave({ latencyMs: 0, replies: [], paused: false, credentials: null });
  if (stack) await setRate(stack, fast);
  if (stack) await checkEvents(stack.databaseUrl);
}
