import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { ReportService } from '#gen/postrider/messages/v1/reports_pb.ts';
import { once } from '#lib/rpc/server/idempotency.ts';
import type { Context, Methods } from '../context.ts';
import { notRegistered, overlapMs, rotate } from '../reports/keys.ts';
import { addSetUp } from '../reports/set-up.ts';
import { toReportStatus } from '../views/report-status.ts';

const { rotateReportSecret: method } = ReportService.method;

export function rotateReportSecret(context: Context): Methods['rotateReportSecret'] {
  const { store, plans, keyring, now } = context;
  return async (request, call) => {
    const { workspaceId, integrationId } = request;
    const place = { workspaceId, integrationId };
    const kind = await plans.kindOf(workspaceId, integrationId);
    const baseUrl = await plans.baseUrl(workspaceId);
    return once(store, call, method, request, async (em) => {
      const earlierUntil = new Date(now().getTime() + overlapMs);
      const rotated = await rotate(em, keyring, { place, earlierUntil });
      if (!rotated) throw notRegistered();
      if (rotated.registration.state === 'pending') await addSetUp(em, place);
      return {
        status: toReportStatus({ place, kind, baseUrl, ...rotated }),
        earlierKeyUntil: timestampFromDate(earlierUntil),
      };
    });
  };
}
