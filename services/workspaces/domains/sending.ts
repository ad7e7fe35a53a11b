import type { Domain, DomainKey } from './domain.ts';
import { signingKeys } from './key-states.ts';

/** The part of an owned domain that sending needs. */
export function sendingOf(domain: Domain, keys: readonly DomainKey[]) {
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
