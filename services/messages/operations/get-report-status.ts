import type { Context, Methods } from '../context.ts';
import { openRegistration, readRegistration, settingsOf } from '../reports/keys.ts';
import { toReportStatus } from '../views/report-status.ts';

export function getReportStatus({ store, plans, keyring }: Context): Methods['getReportStatus'] {
  return async ({ workspaceId, integrationId }) => {
    const place = { workspaceId, integrationId };
    const provider = await plans.providerOf(workspaceId, integrationId);
    const baseUrl = await plans.baseUrl(workspaceId);
    const found = await readRegistration(store.fork(), place);
    const { settings } = found?.sealed ? openRegistration(keyring, place, found.sealed) : {};
    // A provider that was set up with other settings may be another account.
    const isOther = settings !== undefined && settings !== settingsOf(provider);
    const registration =
      found?.state === 'active' && isOther ? { ...found, ...settingsChanged } : found;
    return { status: toReportStatus({ place, kind: provider.kind, baseUrl, registration }) };
  };
}

const settingsChanged = {
  state: 'pending',
  error: 'the settings have changed: register again',
} as const;
