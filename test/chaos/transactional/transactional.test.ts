import { expect, test } from '@jest/globals';
import type { Mail } from '../../stack/sink-client.ts';
import { type Accepted, type Recorded, verdictOf } from './checker.ts';
import { makeTransactionalKills } from './schedule.ts';

const accepted = (key: string, messageIds = ['m']): Accepted => ({
  email: `${key}@example.com`,
  externalId: key,
  messageIds,
});
const mail = (key: string, messageId = '<m>'): Mail => ({
  atMs: 0,
  email: `${key}@example.com`,
  messageId,
});
const row = (key: string, status = 'sent'): Recorded => ({ id: key, external_id: key, status });

function verdict(over: { mails?: Mail[]; rows?: Recorded[]; ids?: string[]; kills?: number }) {
  const { mails = [mail('a')], rows = [row('a')], ids = ['m'], kills = 0 } = over;
  const kill = { afterMs: 0, action: 'kill', name: 'messages', forMs: 0, connections: 2 } as const;
  const faults = Array.from({ length: kills }, () => kill);
  return verdictOf({ accepted: [accepted('a', ids)], mails, rows, faults, hasJournal: true });
}

test('the checker is content with a message that came once or failed, and repeats that kills explain', () => {
  expect(verdict({})).toMatchObject({ lost: 0, twice: 0, problems: [] });
  expect(verdict({ mails: [], rows: [row('a', 'failed')] })).toMatchObject({ problems: [] });
  expect(verdict({ mails: [mail('a'), mail('a')], kills: 1 })).toMatchObject({
    twice: 1,
    bound: 2,
    problems: [],
  });
});

test.each<[string, Parameters<typeof verdict>[0], string]>([
  ['a message that never came', { mails: [] }, '1 accepted messages never came'],
  ['a repeat without a kill', { mails: [mail('a'), mail('a')] }, '1 came twice, more than 0'],
  [
    'one key as two messages',
    { mails: [mail('a'), mail('a', '<n>')], kills: 1 },
    'a came as two messages',
  ],
  ['two rows of one key', { rows: [row('a'), row('a')] }, 'a has 2 rows'],
  ['two answers for one key', { ids: ['m', 'n'] }, 'a was answered with two ids'],
  ['a message without an end', { rows: [row('a', 'deferred')] }, 'a is deferred'],
])('the checker finds %s', (_, over, problem) => {
  expect(verdict(over).problems).toEqual([problem]);
});

test('the kills depend only on the seed', () => {
  const options = { kills: 12, everyMs: 5_000 };
  const kills = makeTransactionalKills({ ...options, seed: 7 });
  expect(makeTransactionalKills({ ...options, seed: 7 })).toEqual(kills);
  expect(makeTransactionalKills({ ...options, seed: 8 })).not.toEqual(kills);
  expect(new Set(kills.slice(0, 9).map(({ name }) => name)).size).toBe(7);
});
