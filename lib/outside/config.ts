import { Resolver } from 'node:dns';
import type { Variables } from '../env.ts';

/** How calls go to hosts that tenants have chosen. */
export type EgressSettings = {
  /** Ranges in CIDR notation that may be called although they are not public. */
  allow: readonly string[];
  /**
   * `address` or `address:port` of the DNS servers to ask; those of `/etc/resolv.conf` if there are
   * none.
   */
  dnsServers: readonly string[];
};

export function readEgress(variables: Variables): EgressSettings {
  const dnsServers = readDnsServers(variables);
  const allow = variables.list('EGRESS_ALLOW', {
    unset: 'none',
    about:
      'Private ranges in CIDR notation, separated by commas, that hosts which tenants choose may be in: mail servers, feeds, endpoints of webhooks.',
  });
  return { allow, dnsServers };
}

export function readDnsServers(variables: Variables): readonly string[] {
  const dnsServers = variables.list('DNS_SERVERS', {
    unset: 'those of `/etc/resolv.conf`',
    about:
      'The DNS servers for names that tenants choose: `address` or `address:port`, several separated by commas.',
  });
  variables.derived(() => checkServers(dnsServers));
  return dnsServers;
}

function checkServers(servers: readonly string[]): void {
  try {
    new Resolver().setServers(servers);
  } catch {
    throw new Error(
      'DNS_SERVERS must be addresses, such as 10.0.0.53, 10.0.0.53:5353 or [fd00::53]:53',
    );
  }
}
