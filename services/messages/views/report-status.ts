import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ReportStatusSchema } from '#gen/postrider/messages/v1/reports_pb.ts';
import type { ReportPlace } from '../reports/keys.ts';
import type { ReportType } from '../reports/report.ts';

/** How an integration is registered, as the API shows it. `key` is in its URLs if it is given. */
export function toReportStatus(given: {
  place: ReportPlace;
  kind: string;
  baseUrl: string;
  types: readonly ReportType[];
  key?: string | undefined;
}): MessageInitShape<typeof ReportStatusSchema> {
  const { place, kind, baseUrl, types, key } = given;
  const query = new URLSearchParams({
    ...{ provider: kind, workspace_id: place.workspaceId, integration_id: place.integrationId },
    ...(key && { key }),
  });
  const url = `${baseUrl}/webhooks/email?${query}`;
  return {
    emailProviderKind: kind,
    isRegistered: types.length > 0,
    endpoints: types.map((eventType) => ({ url, eventType, active: true })),
  };
}
