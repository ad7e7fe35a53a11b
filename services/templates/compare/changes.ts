import { createTwoFilesPatch } from 'diff';
import { ownTurn } from '#lib/limits/turns.ts';
import type { Fields } from './fields.ts';

const changesMax = 500;
/** A longer text, and one of several lines, is compared by lines. */
const shortMax = 1_000;
const diffMaxLength = 64 * 1024;
const diffsMaxLength = 512 * 1024;
/** Of one field, and of all: comparing lines holds up the process. */
const diffMaxMs = 50;
const diffsMaxMs = 300;

type Change = { field: string; before: string; after: string; diff: string; isTruncated: boolean };

/** The differences between two versions. */
export async function compareFields(before: Fields, after: Fields): Promise<Change[]> {
  const changes: Change[] = [];
  const left = { length: diffsMaxLength, ms: diffsMaxMs };
  for (const field of new Set([...before.keys(), ...after.keys()])) {
    const [old = '', now = ''] = [before.get(field), after.get(field)];
    if (old === now) continue;
    if (changes.length === changesMax) break;
    changes.push({
      field,
      ...(isShort(old) && isShort(now) ? texts(old, now) : diffOf(old, now, left)),
    });
    // Calls of others get their turn between two fields.
    await ownTurn();
  }
  return changes;
}

const isShort = (text: string) => text.length <= shortMax && !text.includes('\n');

const texts = (before: string, after: string) => ({ before, after, diff: '', isTruncated: false });

type DiffBudget = { length: number; ms: number };

function diffOf(old: string, now: string, left: DiffBudget): Omit<Change, 'field'> {
  const started = performance.now();
  const timeout = Math.min(diffMaxMs, left.ms);
  // Undefined if it takes longer.
  const patch =
    timeout > 0 ? createTwoFilesPatch('before', 'after', old, now, '', '', { timeout }) : undefined;
  left.ms -= performance.now() - started;
  // The first line underlines a file name that there is none of.
  const whole = patch?.slice(patch.indexOf('---')) ?? '';
  const diff = whole.slice(0, Math.min(diffMaxLength, left.length));
  left.length -= diff.length;
  return {
    before: '',
    after: '',
    diff,
    isTruncated: patch === undefined || diff.length < whole.length,
  };
}
