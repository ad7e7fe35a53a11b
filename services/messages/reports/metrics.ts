import { counter } from '#lib/telemetry/metrics.ts';

const reportsTotal = counter(
  'postrider_reports_total',
  'Reports of providers that this process has brought to an end, by type, class and state.',
  ['type', 'class', 'state'],
);

type CountedReport = { type: string; class: string; state: string };

/** Types, classes and states are words of ours. */
export function countReports(reports: readonly CountedReport[]): void {
  for (const report of reports) {
    reportsTotal.inc({ type: report.type, class: report.class, state: report.state });
  }
}
