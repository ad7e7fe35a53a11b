import type { WarmUp } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import type { StoredWarmUp } from '../integration.ts';

const daysMax = 90;
/** The largest rate per minute of an integration: more than any warm-up needs in a day. */
const limitMax = 10_000_000;

export function storedWarmUp({ startedOn, dailyLimits }: WarmUp): StoredWarmUp {
  if (!isDate(startedOn)) {
    throw invalidField(
      'provider.warm_up.started_on',
      'warm-up started_on must be a date such as 2026-11-21',
    );
  }
  if (dailyLimits.length === 0 || dailyLimits.length > daysMax) {
    throw invalidField(
      'provider.warm_up.daily_limits',
      `warm-up must have 1 to ${daysMax} daily limits`,
    );
  }
  const wrong = dailyLimits.findIndex((limit) => limit < 1 || limit > limitMax);
  if (wrong >= 0) {
    throw invalidField(
      `provider.warm_up.daily_limits[${wrong}]`,
      `warm-up daily limit must be between 1 and ${limitMax}`,
    );
  }
  return { started_on: startedOn, daily_limits: dailyLimits };
}

/** Whether the day exists: `2026-02-30` parses as another day. */
function isDate(text: string): boolean {
  if (!/^[1-9]\d{3}-\d\d-\d\d$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}
