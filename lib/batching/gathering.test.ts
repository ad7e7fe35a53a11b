import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Gathering } from './gathering.ts';

let gathering: Gathering;
let ready: number;
beforeEach(() => {
  jest.useFakeTimers();
  ready = 0;
  gathering = new Gathering(() => {
    ready += 1;
  });
});
afterEach(() => {
  jest.useRealTimers();
});

test('a caller that is alone never waits', () => {
  expect(gathering.mayBegin('w', 1)).toBe(true);
  gathering.ended('w', 1);
  expect(gathering.mayBegin('w', 1)).toBe(true);
});

test('a group begins when all callers of the last one are back', () => {
  gathering.ended('w', 16);
  expect(gathering.mayBegin('w', 1)).toBe(false);
  expect(gathering.mayBegin('w', 15)).toBe(false);
  expect(gathering.mayBegin('w', 16)).toBe(true);
  jest.advanceTimersByTime(1_000);
  expect(ready).toBe(0);
});

test('callers that do not come back are waited for no longer than some milliseconds', () => {
  gathering.ended('w', 16);
  jest.advanceTimersByTime(20);
  expect(gathering.mayBegin('w', 1)).toBe(false);
  jest.advanceTimersByTime(5);
  expect(gathering.mayBegin('w', 2)).toBe(false);
  jest.advanceTimersByTime(5);
  expect(ready).toBe(1);
  expect(gathering.mayBegin('w', 2)).toBe(true);
});

test('calls that arrive while the process is busy are in the group', async () => {
  jest.useRealTimers();
  gathering.ended('w', 2);
  expect(gathering.mayBegin('w', 1)).toBe(false);
  // As a socket's data, its callback comes after the timers that are late.
  const arrived = stat('.').then(() => gathering.mayBegin('w', 2));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  expect(await arrived).toBe(true);
  await sleep(20);
  expect(ready).toBe(0);
});

test('a caller that comes long after the last group waits for nobody, and other workspaces never do', () => {
  gathering.ended('w', 16);
  expect(gathering.mayBegin('other', 1)).toBe(true);
  jest.advanceTimersByTime(50);
  expect(gathering.mayBegin('w', 1)).toBe(true);
});
