import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ReportStatusSchema } from '#gen/postrider/messages/v1/reports_pb.ts';
import type { Registration, ReportPlace } from '../reports/keys.ts';
import { reportUrl } from '../reports/url.ts';

/** How an integration is registered, as the API shows it. `key` is in its URLs if it is given. */
export function toReportStatus(given: {
  place: ReportPlace;
  kind: string;
  baseUrl: string;
  /** Undefined for one that is not registered. */
  registration: Registration | undefined;
  key?: string | undefined;
}): MessageInitShape<typeof ReportStatusSchema> {
  const { kind, registration, key } = given;
  const { url, withKey } = reportUrl(given);
  const endpoint = {
    url: key === undefined ? url : withKey(key),
    active: registration?.state === 'active',
  };
  return {
    emailProviderKind: kind,
    isRegistered: registration !== undefined,
    endpoints: registration?.types.map((eventType) => ({ ...endpoint, eventType })) ?? [],
    error: registration?.error ?? undefined,
  };
}
