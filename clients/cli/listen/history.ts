import type { WebhookSubscriptions } from '../../typescript/src/made/webhookSubscriptions.ts';
import { UsageError } from '../failures.ts';
import { eventOfDelivery } from './event.ts';
import type { LocalEvent } from './local-server.ts';

const pageSize = 100;
export const historyMax = 1_000;
/** Deliveries of one event have the same id up to here. */
const eventDigits = 32;
const unitsMs: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The time that was this long ago: 90s, 10m, 2h, 1d. */
export function sinceOf(text: string, now = Date.now()): Date {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * (unitsMs[unit] ?? Number.NaN);
  const since = new Date(now - ms);
  if (Number.isNaN(since.getTime()) || since.getTime() < 0) {
    throw new UsageError(`--since ${text}: a time such as 90s, 10m, 2h or 1d is expected`);
  }
  return since;
}

export type Period = {
  since: Date;
  /** RFC 3339. */
  until: string;
  types: ReadonlySet<string>;
};

/** Pages of events that have come before. */
export type History = {
  /** Undefined after the last page. One that failed is asked for again. */
  next(): Promise<LocalEvent[] | undefined>;
};

/**
 * The events of a time that webhooks and listeners of the workspace got and the caller may read,
 * each once, oldest first. The newest `historyMax` deliveries are read; if there
 * are more, `beyond` gets their number.
 */
export function openHistory(
  subscriptions: Pick<WebhookSubscriptions, 'deliveries'>,
  { since, until, types }: Period,
  beyond: (total: number) => void,
): History {
  const period = { since: since.toISOString(), until };
  const seen = new Set<string>();
  let offset: number | undefined;
  const isFirst = (id: string) => {
    const event = id.slice(0, eventDigits);
    const isNew = !seen.has(event);
    seen.add(event);
    return isNew;
  };
  const lastOffset = async () => {
    const { total } = await subscriptions.deliveries({ ...period, limit: 1 });
    if (total > historyMax) beyond(total);
    return (Math.ceil(Math.min(total, historyMax) / pageSize) - 1) * pageSize;
  };
  return {
    async next() {
      offset ??= await lastOffset();
      if (offset < 0) return undefined;
      const { deliveries } = await subscriptions.deliveries({ ...period, limit: pageSize, offset });
      offset -= pageSize;
      const wanted = deliveries
        .slice(0, pageSize)
        .filter(
          ({ event_type, payload }) => types.has(event_type) && Object.keys(payload).length > 0,
        )
        .map(eventOfDelivery)
        .reverse();
      return wanted.filter(({ id }) => isFirst(id));
    },
  };
}
