import type { Domain, RecordFinding } from '../domains/domain.ts';
import { organisationalDomain } from '../domains/name.ts';
import type { WantedRecord } from '../domains/records.ts';
import { type Asked, missing, shown, tagsOf, textsAt, unreachable } from './texts.ts';

export async function lookAtReturnPath(
  { server, workspaceId }: Asked,
  { host, value }: WantedRecord,
): Promise<RecordFinding> {
  const look = await server.target(host, workspaceId);
  if (look === 'unreachable') return unreachable;
  const [target] = look.values;
  if (target === undefined) {
    const texts = await server.texts(host, workspaceId);
    return missing(undefined, texts === 'unreachable' ? [] : texts.values);
  }
  if (target !== value) return { state: 'wrong', found: shown([target]) };
  const read = await textsAt({ server, workspaceId }, host);
  if ('state' in read && read.state === 'conflict') return read;
  return { state: 'ok', found: shown([target]) };
}

/** Receivers refuse to choose between two (RFC 7208, 4.5). */
export async function lookAtSpf(asked: Asked, { host }: WantedRecord): Promise<RecordFinding> {
  const read = await textsAt(asked, host);
  if ('state' in read) return read;
  const policies = read.texts.filter((text) => /^v=spf1(\s|$)/i.test(text));
  if (policies.length === 0) return missing(undefined, read.texts);
  if (policies.length === 1) return { state: 'ok', found: shown(policies) };
  const note = 'Two SPF records stand at this host, and receivers take neither: keep one.';
  return { state: 'conflict', found: shown(policies), note };
}

/** The policy of the domain itself, else that of the organisational domain (RFC 7489, 6.6.3). */
export async function lookAtDmarc(
  asked: Asked,
  record: WantedRecord,
  domain: Domain,
): Promise<RecordFinding> {
  const own = await policiesAt(asked, record.host);
  if ('state' in own) return own;
  const above = `_dmarc.${organisationalDomain(domain.name)}`;
  const isOwn = own.policies.length > 0 || above === record.host;
  const read = isOwn ? own : await policiesAt(asked, above);
  if ('state' in read) return read;
  const [policy] = read.policies;
  if (policy === undefined) return missing(undefined, read.texts);
  const found = shown(read.policies);
  if (read.policies.length > 1) {
    const note = 'Two DMARC records stand at one host, and receivers take neither: keep one.';
    return { state: 'conflict', found, note };
  }
  return { ...judged(policy, domain), found };
}

async function policiesAt(
  asked: Asked,
  host: string,
): Promise<{ policies: string[]; texts: string[] } | RecordFinding> {
  const read = await textsAt(asked, host);
  if ('state' in read) return read;
  const policies = read.texts.filter((text) => /^v\s*=\s*DMARC1\s*(;|$)/.test(text));
  return { policies, texts: read.texts };
}

/** Keys sign for the domain itself, which aligns always; its return path is a subdomain. */
function judged(policy: string, domain: Domain): Omit<RecordFinding, 'found'> {
  const tags = tagsOf(policy);
  if (!['none', 'quarantine', 'reject'].includes(tags.get('p')?.toLowerCase() ?? '')) {
    const note = 'The policy needs p=none, p=quarantine or p=reject.';
    return { state: 'wrong', note };
  }
  if (domain.dkim_algorithms.length > 0) return { state: 'ok' };
  const isStrict = tags.get('aspf')?.toLowerCase() === 's';
  if (domain.return_path_host !== '' && !isStrict) return { state: 'ok' };
  const note = `Neither a key nor a return path of the domain aligns with the sender: sign with a key here, or have the mail server of the integration sign for ${domain.name}.`;
  return { state: domain.return_path_host === '' ? 'ok' : 'wrong', note };
}
