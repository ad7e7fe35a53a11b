import { infoLength } from '../providers/outcome.ts';

const start = 'waits for the rate of ';

/** Why a message waits; it holds no address. */
export function waitsForRate(receiver: string, isSlowed: boolean): string {
  const why = isSlowed ? ', which has asked for less mail' : '';
  return `${start}${receiver}${why}`.slice(0, infoLength);
}

/** Why a message waits whose receiver an owner has paused. */
export function waitsForPause(receiver: string, endsAt: Date): string {
  const why = `, which is paused until ${endsAt.toISOString().slice(0, 16)}Z`;
  return `${start}${receiver}${why}`.slice(0, infoLength);
}

/** Whether the reason of a message is that it waits for its receiver. */
export const isWaitForRate = (info: string | null): boolean => info?.startsWith(start) ?? false;

/** The group that a message waits for, by its reason, in SQL; null where it waits for none. */
export const awaitedSql = `substring(status_info from '^${start}([^ ,]+)')`;
