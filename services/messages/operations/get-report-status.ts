import type { Context, Methods } from '../context.ts';
import { readRegistration } from '../reports/keys.ts';
import { toReportStatus } from '../views/report-status.ts';

export function getReportStatus({ store, plans }: Context): Methods['getReportStatus'] {
  return async ({ workspaceId, integrationId }) => {
    const place = { workspaceId, integrationId };
    const kind = await plans.kindOf(workspaceId, integrationId);
    const baseUrl = await plans.baseUrl(workspaceId);
    const registration = await readRegistration(store.fork(), place);
    return { status: toReportStatus({ place, kind, baseUrl, registration }) };
  };
}
