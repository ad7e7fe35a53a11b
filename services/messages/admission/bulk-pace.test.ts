import { expect, test } from '@jest/globals';
import { BulkPace } from './bulk-pace.ts';

const slowMs = 200;
const quickMs = 5;

test('bulk mail is held from the first urgent mail that took long until it has been quick for a while', () => {
  const pace = new BulkPace();
  expect(pace.isHeld(0)).toBe(false);
  expect(pace.urgentTook('w', slowMs, 10)).toBeGreaterThan(0);
  expect(pace.isHeld(11)).toBe(true);
  expect(pace.urgentTook('w', slowMs, 12)).toBe(0);
  pace.urgentTook('w', quickMs, 20);
  expect(pace.isHeld(20)).toBe(true);
  pace.urgentTook('w', quickMs, 220);
  expect(pace.isHeld(220)).toBe(false);
});

test('a quick one among slow ones lets no bulk mail go', () => {
  const pace = new BulkPace();
  pace.urgentTook('w', slowMs, 0);
  pace.urgentTook('w', quickMs, 100);
  pace.urgentTook('w', slowMs, 150);
  pace.urgentTook('w', quickMs, 310);
  expect(pace.isHeld(310)).toBe(true);
});

test('a workspace whose mail takes long holds no bulk mail while that of another is quick', () => {
  const pace = new BulkPace();
  for (let nowMs = 0; nowMs < 1_000; nowMs += 50) {
    pace.urgentTook('quick', quickMs, nowMs);
    expect(pace.urgentTook('slow', slowMs, nowMs + 10)).toBe(0);
    expect(pace.isHeld(nowMs + 20)).toBe(false);
  }
  expect(pace.urgentTook('slow', slowMs, 2_000)).toBeGreaterThan(0);
});

test('in a busy process a workspace whose mail is just quick enough does not undo what another finds', () => {
  const pace = new BulkPace();
  pace.urgentTook('small', 35, 0);
  expect(pace.urgentTook('large', slowMs, 10)).toBeGreaterThan(0);
  expect(pace.isHeld(20)).toBe(true);
});

test('however slow urgent mail is, bulk mail goes on for a fifteenth of the time', () => {
  const pace = new BulkPace();
  let freeMs = 0;
  for (let nowMs = 0; nowMs < 10_000; nowMs += 1) {
    pace.urgentTook('w', 5_000, nowMs);
    if (!pace.isHeld(nowMs)) freeMs += 1;
  }
  expect(freeMs).toBeGreaterThan(650);
});

test('without urgent mail none is held for long', () => {
  const pace = new BulkPace();
  const heldMs = pace.urgentTook('w', 5_000, 0);
  expect(pace.isHeld(heldMs)).toBe(false);
});

test('bulk mail gives way to a single call until it ends, but not for long', () => {
  const pace = new BulkPace();
  const givesMs = pace.urgentBegan(0);
  expect(pace.isHeld(0)).toBe(true);
  pace.urgentEnded(20);
  expect(pace.isHeld(20)).toBe(false);
  pace.urgentBegan(1_000);
  expect(pace.isHeld(1_000 + givesMs - 1)).toBe(true);
  expect(pace.isHeld(1_000 + givesMs)).toBe(false);
});

test('a call that does not end takes nothing from those that come later', () => {
  const pace = new BulkPace();
  pace.urgentBegan(0);
  const givesMs = pace.urgentBegan(1_000);
  expect(pace.isHeld(1_000)).toBe(true);
  expect(pace.isHeld(1_000 + givesMs)).toBe(false);
});

test.each([
  ['one after the other', 10],
  ['at the same time', 25],
])('bulk mail gives way for a fifth of the time to calls %s', (_, lastsMs) => {
  const pace = new BulkPace();
  let heldMs = 0;
  for (let nowMs = 0; nowMs < 10_000; nowMs += 1) {
    if (nowMs % 10 === 0) pace.urgentBegan(nowMs);
    if (pace.isHeld(nowMs)) heldMs += 1;
    const isEnd = nowMs + 1 >= lastsMs && (nowMs + 1 - lastsMs) % 10 === 0;
    if (isEnd) pace.urgentEnded(nowMs);
  }
  expect(heldMs).toBeGreaterThan(1_800);
  expect(heldMs).toBeLessThan(2_300);
});

function afterUrgent(tookMs: number): BulkPace {
  const pace = new BulkPace();
  pace.urgentBegan(0);
  pace.urgentEnded(tookMs);
  pace.urgentTook('w', tookMs, tookMs);
  return pace;
}

test('as long as urgent calls are expected bulk mail has short turns of the event loop', () => {
  const pace = afterUrgent(quickMs);
  expect(pace.beginTurn(100)).toBe(true);
  expect(pace.beginTurn(101)).toBe(false);
  expect(pace.isHeld(102)).toBe(false);
  expect(pace.isHeld(103)).toBe(true);
  expect(pace.endTurn(103)).toBe(0);
  expect(pace.isHeld(103)).toBe(false);
  pace.beginTurn(2_000);
  expect(pace.isHeld(2_100)).toBe(false);
});

test('bulk mail rests after each turn where urgent mail is hindered, for as long as the turn', () => {
  const pace = afterUrgent(30);
  pace.beginTurn(100);
  expect(pace.endTurn(104)).toBe(4);
  expect(pace.isHeld(107)).toBe(true);
  expect(pace.isHeld(108)).toBe(false);
  pace.beginTurn(200);
  expect(pace.endTurn(300)).toBeLessThan(50);
  pace.beginTurn(2_000);
  expect(pace.endTurn(2_100)).toBe(0);
});

test('bulk mail has no rests in the short time that a hold leaves it', () => {
  const pace = new BulkPace();
  pace.urgentBegan(0);
  pace.urgentEnded(5);
  const heldMs = pace.urgentTook('w', slowMs, 5);
  pace.beginTurn(5 + heldMs);
  expect(pace.endTurn(5 + heldMs + 4)).toBe(0);
});

test('bulk mail has no rests for a workspace that is slow while another is quick', () => {
  const pace = afterUrgent(quickMs);
  pace.urgentTook('slow', 30, 50);
  pace.beginTurn(100);
  expect(pace.endTurn(104)).toBe(0);
});
