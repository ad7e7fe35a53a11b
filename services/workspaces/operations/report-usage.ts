import type { Context, Methods } from '../context.ts';
import { createReportUsage } from '../usage/report-usage.ts';

export function reportUsage({ store }: Context): Methods['reportUsage'] {
  const report = createReportUsage(store);
  return async ({ usage }) => ({ totals: [...(await report(usage))] });
}
