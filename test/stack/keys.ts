import { createKeyring, type Keyring } from '#lib/keys/keyring.ts';
import { keysetsOf } from '../../deploy/keys/installation.ts';
import { loadKeys } from '../../deploy/local/keys.ts';

/** The keys of a service of the stack in a folder. */
export function keyringIn(folder: string, service: string): Keyring {
  const keyset = keysetsOf(loadKeys(folder, undefined))[service];
  if (!keyset) throw new Error(`no service is called ${service}`);
  return createKeyring(keyset);
}
