import type { WarmUp } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** What an integration may send on a day of UTC. */
export type Today = {
  /** As `2026-11-21`. */
  date: string;
  /** Undefined once a warm-up is over, or without one. */
  limit: number | undefined;
  /** When the next day begins. */
  endsAt: Date;
};

export function todayOf(warmUp: WarmUp | undefined, now: Date): Today {
  const day = Math.floor(now.getTime() / dayMs);
  const endsAt = new Date((day + 1) * dayMs);
  const date = now.toISOString().slice(0, 10);
  if (!warmUp) return { date, limit: undefined, endsAt };
  const since = day - Date.parse(`${warmUp.startedOn}T00:00:00Z`) / dayMs;
  return { date, limit: warmUp.dailyLimits[Math.max(0, since)], endsAt };
}
