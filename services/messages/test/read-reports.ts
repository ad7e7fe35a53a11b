import type { ReadReports } from '../providers/provider.ts';
import type { ReportAccount } from '../reports/account.ts';
import type { Report, ReportRequest, UnreadableReport } from '../reports/report.ts';
import { reportAccount } from './given-reports.ts';

/** The id of a message of ours, as mails name it at their providers. */
export const messageId = '5f2b1c1e-7d1b-4f8e-9a55-0d8c0f1e2a3b';

/** The reports in a body, which is JSON unless it is a text. */
export async function readReports(
  reports: ReadReports,
  body: unknown,
  {
    headers = {},
    now = new Date(),
    ...account
  }: Partial<ReportAccount> & Partial<Pick<ReportRequest, 'headers' | 'now'>> = {},
): Promise<(Report | UnreadableReport)[]> {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return [...(await reports({ body: bytes, headers, now }, reportAccount(account)))];
}

/** The type and the class of the reports of an event. */
export async function meaningOf(
  read: (event: unknown) => Promise<(Report | UnreadableReport)[]>,
  event: unknown,
): Promise<string> {
  const reports = await read(event);
  return reports
    .map((each) =>
      'isUnreadable' in each
        ? 'unreadable'
        : [each.type ?? 'nothing', each.class].filter((word) => word !== undefined).join(' '),
    )
    .join(', ');
}
