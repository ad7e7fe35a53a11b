import {
  isResource,
  quotaDefault,
  quotaMost,
  type Resource,
  resourceNames,
} from '#lib/quotas/resources.ts';

/** Quotas that differ from the default, by resource. */
export type QuotaSettings = Partial<Record<Resource, number>>;

/** Reads items such as `contacts:1000000`. Throws where one is wrong. */
export function readQuotas(items: readonly string[]): QuotaSettings {
  return Object.fromEntries(
    items.map((item) => {
      const [, resource = '', quota = ''] = /^(\w+):(\d{1,15})$/.exec(item) ?? [];
      const fault = quotaFault(resource, Number(quota || Number.NaN));
      if (fault) throw new Error(`QUOTAS: ${fault}`);
      return [resource, Number(quota)];
    }),
  );
}

/** The fault of a quota; undefined if it has none. */
export function quotaFault(resource: string, quota: number): string | undefined {
  if (!isResource(resource)) return `a resource is one of ${resourceNames.join(', ')}`;
  const most = quotaMost(resource);
  if (Number.isSafeInteger(quota) && quota >= 0 && quota <= most) return undefined;
  return `the quota of ${resource} is an integer from 0 to ${most}`;
}

/** All quotas of a workspace: its own before those of the installation. */
export function quotasOf(own: Partial<Record<string, number>>, installation: QuotaSettings) {
  return Object.fromEntries(
    resourceNames.map((resource) => [
      resource,
      BigInt(own[resource] ?? installation[resource] ?? quotaDefault(resource)),
    ]),
  );
}
