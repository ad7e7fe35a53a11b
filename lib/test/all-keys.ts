import { type Installation, keysetsOf, newInstallation } from '../../deploy/keys/installation.ts';
import { newKeyPair } from '../keys/key-pair.ts';
import { createKeyring, type Keyring } from '../keys/keyring.ts';
import type { Keyset } from '../keys/keyset.ts';

/** The keys of every service in one, so that a test of one service can stand in for the others. */
export function allKeys(service: string, installation: Installation): Keyset {
  const { issuer, letters, macs, boxes, before } = installation;
  const identity = installation.identities[service] ?? [newKeyPair('Ed25519')];
  const services = {
    ...keysetsOf(installation).gateway?.services,
    [service]: [identity[0]?.x ?? ''],
  };
  return {
    ...{ service, identity, services, people: issuer.map(({ x }) => x), issuer },
    ...{ macs, boxes, letters: letters[0]?.x ?? '', letterOpeners: letters },
    ...(before ? { before } : {}),
  };
}

/** Signs as a service, for people and API keys, and opens everything. */
export function keyringOfAll(service: string, installation = newInstallation()): Keyring {
  return createKeyring(allKeys(service, installation));
}
