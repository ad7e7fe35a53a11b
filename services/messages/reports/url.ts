import type { ReportPlace } from './keys.ts';

const path = '/webhooks/email';

/** The address at which reports of an integration are taken. */
export type ReportUrl = {
  /** Without its key. */
  url: string;
  withKey(key: string): string;
  /** Whether a URL at the provider is of the same integration of this installation. */
  isOurs(url: unknown): boolean;
};

export function reportUrl(given: { place: ReportPlace; kind: string; baseUrl: string }): ReportUrl {
  const { place, kind, baseUrl } = given;
  const base = `${baseUrl}${path}`;
  const named = { workspace_id: place.workspaceId, integration_id: place.integrationId };
  const query = { provider: kind, ...named };
  const url = `${base}?${new URLSearchParams(query)}`;
  return {
    url,
    withKey: (key) => `${base}?${new URLSearchParams({ ...query, key })}`,
    isOurs(other) {
      if (typeof other !== 'string' || !other.startsWith(`${base}?`)) return false;
      const params = new URLSearchParams(other.slice(base.length + 1));
      return Object.entries(named).every(([name, value]) => params.get(name) === value);
    },
  };
}
