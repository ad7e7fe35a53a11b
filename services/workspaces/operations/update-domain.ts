import { recordChange } from '#lib/rpc/server/audit.ts';
import { differences, shownDomain } from '../audit/changes.ts';
import type { Context, Methods } from '../context.ts';
import { retireLeftOut } from '../domains/key-states.ts';
import { addKeys, checkRoomForKeys, makeKeys } from '../domains/keys.ts';
import { checkedAlgorithms, checkedHosts } from '../domains/name.ts';
import { addDomainChecks, findDomain, findKeys, lockDomainOf } from '../domains/queries.ts';
import { refreshMailSettings } from '../integrations/mail-settings.ts';
import { domainMessage } from '../views/domain.ts';

/** States of keys that sign, or will. */
const isCurrent = ({ state }: { state: string }) => state !== 'retired' && state !== 'revoked';

export function updateDomain(context: Context): Methods['updateDomain'] {
  const { store, now, installation } = context;
  return async (request, call) => {
    const { workspaceId } = request;
    const found = await findDomain(store.fork(), workspaceId, request.name);
    const algorithms = checkedAlgorithms(request.dkimAlgorithms);
    const hosts = checkedHosts(found.name, request, installation);
    const known = (await findKeys(store.fork(), [found])).filter(isCurrent);
    const lacking = algorithms.filter((each) => !known.some((key) => key.algorithm === each));
    const made = await makeKeys(context, { workspaceId, name: found.name }, lacking);
    const domain = await store.fork().transactional(async (em) => {
      const { domain, keys } = await lockDomainOf(em, workspaceId, found.name);
      const at = now();
      const before = shownDomain(domain, keys);
      // Another call may have made a key of the algorithm meanwhile.
      const needed = made.filter(
        ({ algorithm }) => !keys.some((key) => isCurrent(key) && key.algorithm === algorithm),
      );
      checkRoomForKeys(keys, needed.length);
      domain.dkim_algorithms = algorithms;
      const { return_path, spf, tracking, ...findings } = domain.findings;
      domain.findings = {
        ...findings,
        ...(hosts.return_path_host === domain.return_path_host && only({ return_path, spf })),
        ...(hosts.tracking_host === domain.tracking_host && only({ tracking })),
      };
      Object.assign(domain, hosts);
      retireLeftOut(domain, keys, at);
      const unused = keys.filter(
        ({ state, algorithm }) =>
          (state === 'waiting' || state === 'published') && !algorithms.includes(algorithm),
      );
      for (const key of unused) em.remove(key);
      domain.noteChange(at);
      const added = addKeys(em, domain, needed, at);
      await em.flush();
      await addDomainChecks(em, workspaceId);
      const left = [...keys.filter((key) => !unused.includes(key)), ...added];
      await recordChange(em, call, {
        targetId: domain.name,
        ...differences(before, shownDomain(domain, left)),
      });
      return domainMessage(domain, left, installation);
    });
    await refreshMailSettings(context, workspaceId);
    return { domain };
  };
}

/** Without what is undefined. */
function only<Value>(values: Record<string, Value | undefined>): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}
