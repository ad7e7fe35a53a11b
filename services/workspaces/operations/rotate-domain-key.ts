import { DomainService } from '#gen/postrider/workspaces/v1/domains_pb.ts';
import { refusal } from '#lib/errors/reasons.ts';
import { recordChange } from '#lib/rpc/server/audit.ts';
import { once } from '#lib/rpc/server/idempotency.ts';
import { differences, shownDomain } from '../audit/changes.ts';
import type { Context, Methods } from '../context.ts';
import type { Domain, DomainKey } from '../domains/domain.ts';
import { addKeys, checkRoomForKeys, makeKeys } from '../domains/keys.ts';
import { addDomainChecks, findDomain, findKeys, lockDomainOf } from '../domains/queries.ts';
import { domainMessage } from '../views/domain.ts';

export function rotateDomainKey(context: Context): Methods['rotateDomainKey'] {
  const { store, now, installation } = context;
  return async (request, call) => {
    const { workspaceId } = request;
    const found = await findDomain(store.fork(), workspaceId, request.name);
    const { name, dkim_algorithms: algorithms } = found;
    checkState(found, await findKeys(store.fork(), [found]));
    const made = await makeKeys(context, { workspaceId, name }, algorithms);
    return once(store, call, DomainService.method.rotateDomainKey, request, async (em) => {
      const { domain, keys } = await lockDomainOf(em, workspaceId, name);
      checkState(domain, keys);
      const at = now();
      const needed = made.filter(({ algorithm }) => domain.dkim_algorithms.includes(algorithm));
      const before = shownDomain(domain, keys);
      const all = [...keys, ...addKeys(em, domain, needed, at)];
      domain.noteChange(at);
      await em.flush();
      await addDomainChecks(em, workspaceId);
      await recordChange(em, call, {
        targetId: name,
        ...differences(before, shownDomain(domain, all)),
      });
      return { domain: domainMessage(domain, all, installation) };
    });
  };
}

function checkState({ dkim_algorithms }: Domain, keys: readonly DomainKey[]): void {
  if (dkim_algorithms.length === 0) {
    throw refusal('DOMAIN_KEY_STATE', 'the domain has no keys: domains.update sets its algorithms');
  }
  const next = keys.find(({ state }) => state === 'waiting' || state === 'published');
  if (next) {
    throw refusal('DOMAIN_KEY_STATE', `the key ${next.selector} does not sign yet`);
  }
  checkRoomForKeys(keys, dkim_algorithms.length);
}
