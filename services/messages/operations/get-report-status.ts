import type { Context, Methods } from '../context.ts';
import { type Registration, readRegistration, settingsOf } from '../reports/keys.ts';
import { toReportStatus } from '../views/report-status.ts';

/** A provider that was set up with other settings may be another account. */
function changeOf(
  { state, settings }: Registration,
  current: readonly Buffer[],
): Partial<Registration> {
  if (state !== 'active' || !settings || current.some((each) => each.equals(settings))) return {};
  return { state: 'pending', error: 'the settings have changed: register again' };
}

export function getReportStatus({ store, plans, keyring }: Context): Methods['getReportStatus'] {
  return async ({ workspaceId, integrationId }) => {
    const place = { workspaceId, integrationId };
    const provider = await plans.providerOf(workspaceId, integrationId);
    const baseUrl = await plans.baseUrl(workspaceId);
    const found = await readRegistration(store.fork(), place);
    const registration = found && { ...found, ...changeOf(found, settingsOf(keyring, provider)) };
    return { status: toReportStatus({ place, kind: provider.kind, baseUrl, registration }) };
  };
}
