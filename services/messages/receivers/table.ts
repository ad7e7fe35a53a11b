/*
 * Groups of receivers: domains whose mail the same hosts take share a rate.
 *
 * Hosts and limits are those of KumoMTA (assets/policy-extras/shaping.toml and
 * assets/community/shaping.toml), which has its numbers from the receivers' own pages where they
 * have one: 100 mails a second to any receiver, and a number of connections. mail.ru has no entry
 * there and has the default. Domains stand here for the time in which DNS has no answer.
 */

import { getDomain } from 'tldts';

/** How much mail a group takes. */
export type ReceiverLimits = {
  perSecond: number;
  /** Mails on their way at a time. */
  atOnce: number;
};

type Receiver = Partial<ReceiverLimits> & {
  /** Mail hosts end in one of these; the longest that fits counts. */
  hosts: readonly string[];
  domains: readonly string[];
};

/** Of any other group. */
const defaultLimits: ReceiverLimits = { perSecond: 100, atOnce: 10 };

const receivers: Record<string, Receiver> = {
  google: {
    ...{ hosts: ['google.com', 'googlemail.com'], atOnce: 5 },
    domains: ['gmail.com', 'googlemail.com'],
  },
  yahoo: {
    hosts: ['yahoodns.net'],
    domains: ['yahoo.com', 'yahoo.co.uk', 'yahoo.fr', 'yahoo.de', 'ymail.com', 'aol.com'],
  },
  'yahoo.co.jp': {
    ...{ hosts: ['yahoo.co.jp'], perSecond: 10, atOnce: 2 },
    domains: ['yahoo.co.jp'],
  },
  outlook: {
    ...{ hosts: ['olc.protection.outlook.com'], atOnce: 5 },
    domains: ['outlook.com', 'hotmail.com', 'hotmail.fr', 'hotmail.co.uk', 'live.com', 'msn.com'],
  },
  office365: {
    ...{ hosts: ['mail.protection.outlook.com', 'mx.microsoft'], atOnce: 5 },
    domains: [],
  },
  icloud: {
    ...{ hosts: ['icloud.com'], atOnce: 10 },
    domains: ['icloud.com', 'me.com', 'mac.com'],
  },
  gmx: {
    ...{ hosts: ['gmx.net', 'web.de'], atOnce: 4 },
    domains: ['gmx.net', 'gmx.de', 'gmx.at', 'gmx.ch', 'web.de'],
  },
  orange: {
    ...{ hosts: ['orange.fr', 'wanadoo.fr'], atOnce: 3 },
    domains: ['orange.fr', 'wanadoo.fr'],
  },
  qq: { hosts: ['qq.com'], atOnce: 4, domains: ['qq.com', 'foxmail.com'] },
  netease: { hosts: ['netease.com'], atOnce: 4, domains: ['163.com', '126.com'] },
  'mail.ru': { hosts: ['mail.ru'], domains: ['mail.ru', 'bk.ru', 'inbox.ru', 'list.ru'] },
  comcast: { hosts: ['comcast.net'], atOnce: 25, domains: ['comcast.net'] },
  mimecast: {
    hosts: ['mimecast.com', 'mimecast.co.za', 'mimecast-offshore.com'],
    domains: [],
  },
  barracuda: { hosts: ['barracudanetworks.com'], domains: [] },
  netvigator: { hosts: ['netvigator.com'], atOnce: 5, domains: ['netvigator.com'] },
  kpn: { hosts: ['kpnmail.nl'], domains: [] },
};

const groupOfHost = new Map(
  Object.entries(receivers).flatMap(([group, { hosts }]) =>
    hosts.map((host) => [host, group] as const),
  ),
);
const groupOfDomain = new Map(
  Object.entries(receivers).flatMap(([group, { domains }]) =>
    domains.map((domain) => [domain, group] as const),
  ),
);

/**
 * The group of a domain by its mail hosts, of which the first counts; by itself without any. No
 * group has the name of a domain that the table has in a group of another name.
 */
export function receiverOf(domain: string, [host]: readonly string[]): string {
  if (host === undefined) return groupOfTable(domain);
  const labels = host.split('.');
  for (const place of labels.keys()) {
    const group = groupOfHost.get(labels.slice(place).join('.'));
    if (group !== undefined) return group;
  }
  return groupOfTable(getDomain(host) ?? host);
}

/** The group of a domain in the table; the domain itself if it is in none. */
export function groupOfTable(domain: string): string {
  return groupOfDomain.get(domain) ?? domain;
}

/** The group of an address by its domain alone, in SQL; `other` for domains of no table. */
export const receiverOfAddressSql = (address: string) =>
  `case lower(split_part(${address}, '@', 2)) ${[...groupOfDomain]
    .map(([domain, group]) => `when '${domain}' then '${group}'`)
    .join(' ')} else 'other' end`;

/** Whether the table has the group, so that its name is ours and not one that DNS gave. */
export function isKnownReceiver(receiver: string): boolean {
  return Object.hasOwn(receivers, receiver);
}

/** Limits by group where an operator has set others. */
export type ReceiverRates = ReadonlyMap<string, ReceiverLimits>;

export function limitsOf(receiver: string, rates: ReceiverRates): ReceiverLimits {
  const known = isKnownReceiver(receiver) ? receivers[receiver] : undefined;
  const { perSecond = defaultLimits.perSecond, atOnce = defaultLimits.atOnce } = known ?? {};
  return rates.get(receiver) ?? { perSecond, atOnce };
}

const perSecondMax = 10_000;
const atOnceMax = 200;

/** Reads `group=rate:connections` items. Throws an error that names `variable`. */
export function readRates(items: readonly string[], variable: string): ReceiverRates {
  return new Map(
    items.map((item) => {
      const [, group = '', rate = '', connections = ''] =
        /^([a-z0-9.-]{1,253})=(\d+(?:\.\d+)?):(\d+)$/.exec(item) ?? [];
      const [perSecond, atOnce] = [Number(rate), Number(connections)];
      const isRight =
        perSecond >= 1 / 60 && perSecond <= perSecondMax && atOnce >= 1 && atOnce <= atOnceMax;
      if (group === '' || !isRight) {
        throw new Error(
          `${variable} has '${item}', which is not a group with its mails a second (0.017 to 10,000) and how many go at once (1 to 200), such as google=20:5`,
        );
      }
      return [group, { perSecond, atOnce }] as const;
    }),
  );
}
