import { createKeyring, type Keyring } from '#lib/keys/keyring.ts';
import { keysFile, readKeys } from '../../deploy/keys/file.ts';
import { keysetsOf } from '../../deploy/keys/installation.ts';

/** The keys of a service of the stack in a folder. */
export function keyringIn(folder: string, service: string): Keyring {
  const keyset = keysetsOf(readKeys(keysFile(folder)))[service];
  if (!keyset) throw new Error(`no service is called ${service}`);
  return createKeyring(keyset);
}
