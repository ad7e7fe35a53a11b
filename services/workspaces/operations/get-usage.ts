import type { CountedResource } from '#gen/postrider/events/v1/events_pb.ts';
import { resourceNames, resources } from '#lib/quotas/resources.ts';
import type { Context, Methods } from '../context.ts';
import { quotasOf } from '../quotas/quotas.ts';
import { findWorkspace } from '../workspace-queries.ts';

const callMaxMs = 5_000;

export function getUsage({
  store,
  usageCounters,
  quotas: installation,
  log,
}: Context): Methods['getUsage'] {
  return async ({ workspaceId }) => {
    const { quotas: own } = await findWorkspace(store.fork(), workspaceId);
    const quotas = quotasOf(own, installation);
    const unavailable: string[] = [];
    const asked = Object.entries(usageCounters).map(async ([name, service]) => {
      try {
        const { counted } = await service.countUsage({ workspaceId }, { timeoutMs: callMaxMs });
        return counted;
      } catch (err) {
        log.warn({ err, workspaceId, service: name }, 'usage was not counted');
        unavailable.push(name);
        return [];
      }
    });
    const counted = new Map<string, CountedResource>();
    for (const each of (await Promise.all(asked)).flat()) counted.set(each.resource, each);
    const usage = resourceNames.flatMap((resource) => {
      const found = counted.get(resource);
      if (!found) return [];
      const { unit, beyond, freeBy } = resources[resource];
      const { used, countedAt } = found;
      const times = countedAt && { countedAt };
      return [{ resource, unit, used, quota: quotas[resource] ?? 0n, beyond, freeBy, ...times }];
    });
    return { usage, unavailable: unavailable.toSorted() };
  };
}
