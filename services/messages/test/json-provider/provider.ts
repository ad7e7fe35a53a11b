import type { MailProvider, ProviderReport, ReportRequest } from '../../providers/provider.ts';
import { JsonSender } from './sender.ts';

/** What the server reports, all in one request. */
type JsonReport = { mail: string; event: ProviderReport['kind']; reason: string; at: string };

/** A kind of provider that takes mail as JSON over HTTP, and reports what became of it. */
export function jsonProvider(port: () => number): MailProvider {
  return {
    kind: 'json',
    transport: () => ({
      kind: 'json',
      key: `json ${port()}`,
      open: (host) => new JsonSender(host, port()),
    }),
    reports: ({ body }: ReportRequest) => {
      const reports: JsonReport[] = JSON.parse(Buffer.from(body).toString());
      return reports.map(({ mail: providerId, event: kind, reason: info, at }) => {
        return { providerId, kind, info, at: new Date(at) };
      });
    },
  };
}
