import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll } from '@jest/globals';
import { openStack, startStack, type TestStack } from '../stack.ts';
import { fast, setRate } from './given.ts';
import { until } from './until.ts';

/** Test files wait here for each other, for as long as all of them together may take. */
const turnMsMax = 8 * 60_000;
const borrowMsMax = turnMsMax + 90_000;

/**
 * The only stack of a run of Jest, for one test file at a time, since they break things. The first file starts it;
 * test/setup/stop.ts ends it. It is available from the first test of the file to the last.
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
  const folder = process.env.TEST_STACK_FOLDER ?? '';
  await until('it is our turn', async () => isTaken(lockOf(folder)), { withinMs: turnMsMax });
  if (existsSync(`${folder}/ready.json`)) return openStack(folder);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o711 });
  return startStack({ folder, parentPid: Number(process.env.TEST_RUN_PID) });
}

/** Restores the stack for the next file. */
async function returnStack(stack: TestStack | undefined): Promise<void> {
  const lock = lockOf(process.env.TEST_STACK_FOLDER ?? '');
  try {
    await stack?.untilServing();
    await stack?.sink.behave({ latencyMs: 0, replies: [], paused: false, credentials: null });
    if (stack) await setRate(stack, fast);
  } finally {
    rmSync(lock, { force: true });
  }
}

const lockOf = (folder: string): string => `${folder}.lock`;

function isTaken(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    if (!isAlive(lock)) rmSync(lock, { force: true });
    return false;
  }
}

function isAlive(lock: string): boolean {
  try {
    return existsSync(`/proc/${readFileSync(lock, 'utf8')}`);
  } catch {
    return true;
  }
}
