import { setTimeout as sleep } from 'node:timers/promises';
import type { SegmentsBench } from './segments.ts';

const upsertEveryMs = 50;
const perCall = 10;

/** The times of calls of `contacts.upsert`, one after the other, while something runs. */
export async function upsertsDuring(
  { stack: { api, workspaceId } }: SegmentsBench,
  run: () => Promise<unknown>,
): Promise<number[]> {
  const times: number[] = [];
  let isOver = false;
  const running = run().finally(() => {
    isOver = true;
  });
  for (let number = 0; !isOver; number += 1) {
    const before = performance.now();
    const contact = { email: `upsert${number}@example.com`, first_name: `${before}` };
    await api('contacts.upsert', { body: { workspace_id: workspaceId, contact } });
    times.push(performance.now() - before);
    await sleep(upsertEveryMs);
  }
  await running;
  return times;
}

type Changes = { perSecond: number; seconds: number; contacts: number };

/** Changes a field of contacts that exist, at a rate, whether or not segments keep up. */
export async function changesAt(
  { stack: { api, workspaceId } }: SegmentsBench,
  { perSecond, seconds, contacts }: Changes,
): Promise<void> {
  const calls: Promise<unknown>[] = [];
  const startedAtMs = performance.now();
  for (let number = 0; number < perSecond * seconds; number += perCall) {
    const dueMs = startedAtMs + (number * 1_000) / perSecond;
    if (dueMs > performance.now()) await sleep(dueMs - performance.now());
    const changed = Array.from({ length: perCall }, (_, place) => ({
      email: `person${1 + (((number + place) * 7_919) % contacts)}@example.com`,
      custom_number_1: Math.floor(Math.random() * 200) + 0.5,
    }));
    calls.push(api('contacts.import', { body: { workspace_id: workspaceId, contacts: changed } }));
  }
  await Promise.all(calls);
}
