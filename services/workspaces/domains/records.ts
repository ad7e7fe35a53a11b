import { returnPathHost } from '#lib/keys/return-path.ts';
import { type Domain, type DomainKey, keyRecord } from './domain.ts';

export type RecordPurpose = 'ownership' | 'dkim' | 'return_path' | 'spf' | 'dmarc' | 'tracking';

/** A record that a domain needs. */
export type WantedRecord = {
  /** Names it among the findings. */
  key: string;
  purpose: RecordPurpose;
  type: 'TXT' | 'CNAME';
  host: string;
  value: string;
  isRequired: boolean;
  /** The key whose record it is. */
  signing?: DomainKey;
};

/** The hosts of the installation that records lead to. */
export type RecordTargets = {
  /** The domain below which mails come back; empty where none do. */
  bounceDomain: string;
  /** The operator's own zone for keys; empty for none. */
  dkimZone: string;
  /** The gateway's address. */
  publicUrl: string;
};

const ownershipPrefix = 'postrider-domain=';

export const isOwnership = (text: string): boolean => text.startsWith(ownershipPrefix);

/** All records of a domain. A key that waits beside one that signs is not required. */
export function wantedRecords(
  domain: Domain,
  keys: readonly DomainKey[],
  installation: RecordTargets,
): WantedRecord[] {
  const { name, return_path_host, tracking_host } = domain;
  const records: WantedRecord[] = [
    {
      ...{ key: 'ownership', purpose: 'ownership', type: 'TXT', isRequired: true },
      ...{ host: `_postrider.${name}`, value: `${ownershipPrefix}${domain.ownership_token}` },
    },
    ...keys.map((key) => keyRecordOf(domain, keys, { key, installation })),
  ];
  if (return_path_host !== '') {
    records.push(
      {
        ...{ key: 'return_path', purpose: 'return_path', type: 'CNAME', isRequired: true },
        ...{ host: return_path_host, value: bounceHostOf(domain, installation) },
      },
      {
        ...{ key: 'spf', purpose: 'spf', type: 'TXT', isRequired: false },
        ...{ host: return_path_host, value: 'v=spf1 … -all' },
      },
    );
  }
  records.push({
    ...{ key: 'dmarc', purpose: 'dmarc', type: 'TXT', isRequired: false },
    ...{ host: `_dmarc.${name}`, value: 'v=DMARC1; p=none' },
  });
  if (tracking_host !== '') {
    records.push({
      ...{ key: 'tracking', purpose: 'tracking', type: 'CNAME', isRequired: true },
      ...{ host: tracking_host, value: new URL(installation.publicUrl).hostname },
    });
  }
  return records;
}

const bounceHostOf = ({ workspace_id }: Domain, { bounceDomain }: RecordTargets) =>
  bounceDomain === '' ? '' : returnPathHost(workspace_id, bounceDomain);

function keyRecordOf(
  { id }: Domain,
  keys: readonly DomainKey[],
  { key, installation: { dkimZone } }: { key: DomainKey; installation: RecordTargets },
): WantedRecord {
  const { host, selector, state } = key;
  const isFirst = !keys.some((each) => each.state === 'signing');
  const isRequired = state === 'signing' || (isFirst && state !== 'retired' && state !== 'revoked');
  const place = { key: keyRecord(selector), purpose: 'dkim', isRequired, signing: key } as const;
  return dkimZone === ''
    ? { ...place, host, type: 'TXT', value: publicRecord(key) }
    : { ...place, host, type: 'CNAME', value: delegatedHost({ selector, id }, dkimZone) };
}

/** The host of a key in the operator's zone, to which the CNAME of the domain leads. */
export function delegatedHost(
  { selector, id }: { selector: string; id: string },
  dkimZone: string,
): string {
  return `${selector}.${id}.${dkimZone}`;
}

/** The public half (RFC 6376, 3.6.1); empty once it is revoked. */
export function publicRecord({
  algorithm,
  state,
  public_key,
}: Pick<DomainKey, 'algorithm' | 'state' | 'public_key'>): string {
  return `v=DKIM1; k=${algorithm}; p=${state === 'revoked' ? '' : public_key}`;
}
