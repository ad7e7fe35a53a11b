import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { InboundReportSchema } from '#gen/postrider/messages/v1/reports_pb.ts';

/** A row as PostgreSQL gives it: times as text. */
export type InboundReportRow = {
  id: string;
  type: string;
  source: string;
  integration_id: string;
  email: string;
  message_id: string | null;
  occurred_at: string;
  received_at: string;
  class: string | null;
  category: string | null;
  diagnostic: string | null;
  complaint_type: string | null;
  state: string;
};

/** A report as the API shows it; `raw` is the JSON of the provider, empty if it is not shown. */
export function toInboundReport(
  row: InboundReportRow,
  raw: string,
): MessageInitShape<typeof InboundReportSchema> {
  const time = (text: string) => timestampFromDate(new Date(text));
  return {
    ...{ id: row.id, type: row.type, source: row.source, state: row.state },
    integrationId: row.integration_id,
    recipientEmail: row.email,
    messageId: row.message_id ?? undefined,
    timestamp: time(row.occurred_at),
    rawPayload: raw,
    bounceType: row.type === 'bounce' ? (row.class ?? undefined) : undefined,
    bounceCategory: row.category ?? undefined,
    bounceDiagnostic: row.diagnostic ?? undefined,
    complaintFeedbackType: row.complaint_type ?? undefined,
    createdAt: time(row.received_at),
  };
}
