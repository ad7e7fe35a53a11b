import { DateTime } from 'luxon';
import { isRelative, type Tree } from '../tree/tree.ts';

const hourOfDay = 5;

/** When a tree that depends on the time is computed again; null for any other tree. */
export function recomputeTime(tree: Tree, now: Date): Date | null {
  return isRelative(tree) ? nextRecompute(tree.timezone, now) : null;
}

/** The next 05:00 in a zone, or right after it where daylight saving skips it. */
export function nextRecompute(timezone: string, now: Date): Date {
  const local = DateTime.fromJSDate(now, { zone: timezone });
  const at = (day: DateTime) => day.startOf('day').set({ hour: hourOfDay });
  const today = at(local);
  return (today > local ? today : at(local.plus({ days: 1 }))).toJSDate();
}
