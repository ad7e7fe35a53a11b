import type { MailProvider } from '../../providers/provider.ts';
import { classOfBounce } from '../../reports/classes.ts';
import { objectsIn } from '../../reports/json-reports.ts';
import { messageIdIn, type Report, type ReportType } from '../../reports/report.ts';
import { JsonSender } from './sender.ts';

/** Reports of the server, all in one request. */
type JsonReport = {
  id: string;
  message: string;
  to: string;
  event: ReportType;
  reason: string;
  at: string;
};

/** A kind of provider that takes mail as JSON over HTTP, and reports what became of it. */
export function jsonProvider(port: () => number): MailProvider {
  return {
    kind: 'json',
    transport: () => ({
      kind: 'json',
      key: `json ${port()}`,
      open: (host) => new JsonSender(host, port()),
    }),
    reports: ({ body }) => (objectsIn(body) as JsonReport[]).map(reportOf),
  };
}

function reportOf(report: JsonReport): Report {
  const { id, message, to, event: type, reason: diagnostic, at } = report;
  const bounce = type === 'bounce' ? classOfBounce({ words: diagnostic, category: '' }) : undefined;
  return {
    ...{ key: id, type, diagnostic, category: '', complaintType: '', email: to },
    class: type === 'complaint' ? 'complaint' : bounce,
    providerId: undefined,
    messageId: messageIdIn(message),
    at: new Date(at),
    raw: JSON.stringify(report),
  };
}
