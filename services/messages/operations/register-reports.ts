import { ReportService } from '#gen/postrider/messages/v1/reports_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { once } from '#lib/rpc/server/idempotency.ts';
import type { Context, Methods } from '../context.ts';
import { register, typesIn } from '../reports/keys.ts';
import { reportTypes } from '../reports/report.ts';
import { toReportStatus } from '../views/report-status.ts';

const { registerReports: method } = ReportService.method;

export function registerReports({ store, plans }: Context): Methods['registerReports'] {
  return async (request, call) => {
    const { workspaceId, integrationId, eventTypes } = request;
    const types = typesIn(eventTypes);
    if (!types) {
      throw invalidField('event_types', `event_types must be of ${reportTypes.join(', ')}`);
    }
    const kind = await plans.kindOf(workspaceId, integrationId);
    const baseUrl = await plans.baseUrl(workspaceId);
    return once(store, call, method, request, async (em) => {
      const place = { workspaceId, integrationId };
      const key = await register(em, place, types);
      return { status: toReportStatus({ place, kind, baseUrl, types, key }) };
    });
  };
}
