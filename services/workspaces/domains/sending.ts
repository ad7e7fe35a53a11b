import type { Domain, DomainKey } from './domain.ts';
import { signingKeys } from './key-states.ts';

type Sending = {
  name: string;
  signingKeys: { selector: string; algorithm: string; sealedPrivateKey: string }[];
  returnPathHost: string;
  trackingHost: string;
  isHeld: boolean;
};

/**
 * The part of a domain that sending needs; undefined for one that was never proven. One that
 * another workspace got is held, without what the other would not want used.
 */
export function sendingOf(
  domain: Domain,
  keys: readonly DomainKey[],
  { isOwn }: { isOwn: boolean },
): Sending | undefined {
  if (!isOwn) {
    const { name, is_held: isHeld } = domain;
    if (!isHeld) return undefined;
    return { name, signingKeys: [], returnPathHost: '', trackingHost: '', isHeld };
  }
  const isRight = (record: string) => domain.findings[record]?.known === 'ok';
  return {
    name: domain.name,
    signingKeys: signingKeys(domain, keys).map((key) => ({
      selector: key.selector,
      algorithm: key.algorithm,
      sealedPrivateKey: key.sealed_private_key ?? '',
    })),
    returnPathHost: isRight('return_path') ? domain.return_path_host : '',
    trackingHost: isRight('tracking') ? domain.tracking_host : '',
    isHeld: domain.is_held,
  };
}
