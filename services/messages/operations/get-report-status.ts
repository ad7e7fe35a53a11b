import type { Context, Methods } from '../context.ts';
import { readRegistration, readSealed, settingsOf } from '../reports/keys.ts';
import { toReportStatus } from '../views/report-status.ts';

export function getReportStatus({ store, plans, keyring }: Context): Methods['getReportStatus'] {
  return async ({ workspaceId, integrationId }) => {
    const place = { workspaceId, integrationId };
    const provider = await plans.providerOf(workspaceId, integrationId);
    const baseUrl = await plans.baseUrl(workspaceId);
    const em = store.fork();
    const found = await readRegistration(em, place);
    const { settings } = (await readSealed(em, keyring, place)) ?? {};
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
