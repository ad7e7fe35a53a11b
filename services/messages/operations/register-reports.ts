import { create } from '@bufbuild/protobuf';
import { ReportService, type ReportStatus } from '#gen/postrider/messages/v1/reports_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { once } from '#lib/rpc/server/idempotency.ts';
import type { Context, Methods } from '../context.ts';
import { type ReportPlace, readRegistration, register, typesIn } from '../reports/keys.ts';
import { reportTypes } from '../reports/report.ts';
import { addSetUp, awaitSetUp } from '../reports/set-up.ts';
import { toReportStatus } from '../views/report-status.ts';

const { registerReports: method } = ReportService.method;

export function registerReports(context: Context): Methods['registerReports'] {
  const { store, plans, keyring, providers } = context;
  return async (request, call) => {
    const { workspaceId, integrationId, eventTypes } = request;
    const types = typesIn(eventTypes);
    if (!types) {
      throw invalidField('event_types', `event_types must be of ${reportTypes.join(', ')}`);
    }
    const provider = await plans.providerOf(workspaceId, integrationId);
    const { kind } = provider;
    const registrar = providers.find((each) => each.kind === kind)?.registrar;
    registrar?.require?.(provider);
    const baseUrl = await plans.baseUrl(workspaceId);
    const place = { workspaceId, integrationId };
    const answer = await once(store, call, method, request, async (em) => {
      const isSetUp = registrar !== undefined;
      const key = await register(em, place, { types, keyring, isSetUp });
      if (isSetUp) await addSetUp(em, place);
      const registration = await readRegistration(em, place);
      return { status: toReportStatus({ place, kind, baseUrl, registration, key }) };
    });
    if (!registrar) return answer;
    const { status } = create(method.output, answer);
    if (status) Object.assign(status, await shownAfterSetUp(context, place, status));
    return { status };
  };
}

/** Once the provider has answered, or after a few seconds. */
async function shownAfterSetUp(
  { store }: Context,
  place: ReportPlace,
  { endpoints }: ReportStatus,
): Promise<Partial<ReportStatus>> {
  const registration = await awaitSetUp(store, place);
  const active = registration?.state === 'active';
  return {
    endpoints: endpoints.map((endpoint) => ({ ...endpoint, active })),
    ...(registration?.error && { error: registration.error }),
  };
}
