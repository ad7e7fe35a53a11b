import type { Egress } from '#lib/outside/egress.ts';
import type { Domain, DomainKey, RecordFinding } from '../domains/domain.ts';
import { type RecordTargets, type WantedRecord, wantedRecords } from '../domains/records.ts';
import type { DnsServer } from './dns.ts';
import { lookAtKey } from './key.ts';
import { lookAtDmarc, lookAtReturnPath, lookAtSpf } from './mail-records.ts';
import { lookAtOwnership } from './ownership.ts';
import type { Asked } from './texts.ts';
import { unreachable } from './texts.ts';
import { askTrackingHost, lookAtTracking } from './tracking.ts';

export type Looking = {
  dnsServers: readonly DnsServer[];
  egress: Egress;
  installation: RecordTargets;
};

/** Looks at all records of a domain; the findings have the keys of the records. */
export async function lookAtDomain(
  looking: Looking,
  domain: Domain,
  keys: readonly DomainKey[],
): Promise<Map<string, RecordFinding>> {
  const [ownership, ...others] = wantedRecords(domain, keys, looking.installation);
  if (!ownership) return new Map();
  const first = await lookAtRecord(looking, domain, ownership);
  // Nobody answers for the zone: the other records would only take time.
  const isSilent = first.state === 'unreachable';
  const rest = others.map(
    async (record): Promise<[string, RecordFinding]> => [
      record.key,
      isSilent ? unreachable : await lookAtRecord(looking, domain, record),
    ],
  );
  return new Map([[ownership.key, first], ...(await Promise.all(rest))]);
}

async function lookAtRecord(
  looking: Looking,
  domain: Domain,
  record: WantedRecord,
): Promise<RecordFinding> {
  const { workspace_id: workspaceId } = domain;
  const { signing } = record;
  const { publicUrl } = looking.installation;
  const answer =
    record.purpose === 'tracking'
      ? await askTrackingHost({ ...looking, publicUrl }, { host: record.host, workspaceId })
      : 'none';
  const look = (asked: Asked): Promise<RecordFinding> => {
    if (signing) return lookAtKey(asked, { ...record, signing });
    if (record.purpose === 'return_path') return lookAtReturnPath(asked, record);
    if (record.purpose === 'spf') return lookAtSpf(asked, record);
    if (record.purpose === 'dmarc') return lookAtDmarc(asked, record, domain);
    if (record.purpose === 'tracking') return lookAtTracking(asked, record, answer);
    return lookAtOwnership(asked, record);
  };
  const asked = looking.dnsServers.map((server) => look({ server, workspaceId }));
  return together(await Promise.all(asked), { needsAll: signing !== undefined });
}

/**
 * A server with another answer may be the one that a receiver asks. One that gives none says
 * nothing; only a key has to be seen by all.
 */
function together(
  findings: readonly RecordFinding[],
  { needsAll }: { needsAll: boolean },
): RecordFinding {
  const definite = findings.filter(({ state }) => state !== 'unreachable');
  const isEnough = definite.length > 0 && (!needsAll || definite.length === findings.length);
  const wrong = definite.find(({ state }) => state !== 'ok');
  return wrong ?? (isEnough ? definite[0] : undefined) ?? unreachable;
}
