import type { Domain, DomainRecord } from '#gen/postrider/workspaces/v1/domains_pb.ts';
import { DomainRecordPurpose, DomainRecordState } from '#gen/postrider/workspaces/v1/domains_pb.ts';
import type { DnsServer } from '../../../test/dns-server.ts';
import { startDnsServer, type Zone } from '../../../test/dns-server.ts';
import { shared } from '../../../test/setup/shared.ts';
import { type Given, givenService } from './given.ts';

export type GivenDns = Given & {
  /** The records of each DNS server, by name; a name without an entry is absent. */
  zones: Map<string, Zone>[];
  servers: DnsServer[];
};

/** The service for all tests of a file, with DNS servers of its own. */
export function useServiceWithDns(count = 1): GivenDns {
  return shared(
    async () => {
      const zones = Array.from({ length: count }, () => new Map<string, Zone>());
      const servers = await Promise.all(
        zones.map((zone) => startDnsServer((name) => zone.get(name) ?? 'absent')),
      );
      const given = await givenService(
        undefined,
        servers.map(({ address }) => address),
      );
      return { ...given, zones, servers };
    },
    async ({ context, servers }) => {
      await Promise.all([context.egress.close(), context.store.close()]);
      await Promise.all(servers.map((server) => server.close()));
    },
  );
}

/** Publishes records as they are wanted, at all DNS servers; SPF is the installation's. */
export function publish({ zones }: GivenDns, records: readonly DomainRecord[]): void {
  for (const { host, type, value, purpose } of records) {
    if (purpose === DomainRecordPurpose.SPF) continue;
    for (const zone of zones) {
      zone.set(host, type === 'TXT' ? { txt: [value] } : { cname: value });
    }
  }
}

export function recordOf(
  domain: Domain | undefined,
  purpose: keyof typeof DomainRecordPurpose,
  selector = '',
): DomainRecord {
  const found = domain?.records.find(
    (record) => record.purpose === DomainRecordPurpose[purpose] && record.host.startsWith(selector),
  );
  if (!found) throw new Error(`the domain has no record of ${purpose}`);
  return found;
}

/** The name of a value of an enum. */
export function wordOf(words: Record<string, number>, value: number | undefined): string {
  return Object.keys(words).find((word) => words[word] === value) ?? '';
}

/** The states of the records of a domain, in their order: `OWNERSHIP OK`. */
export function statesOf(domain: Domain | undefined): string[] {
  return (domain?.records ?? []).map(
    ({ purpose, state }) =>
      `${wordOf(DomainRecordPurpose, purpose)} ${wordOf(DomainRecordState, state)}`,
  );
}
