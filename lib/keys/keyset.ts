import { type Curve, type KeyPair, privateKeyOf, publicKeyOf } from './key-pair.ts';
import { boxOwners, macOwners } from './owners.ts';

/**
 * The keys of one process, from `SERVICE_KEYS`: those that it needs and no others. In every list
 * the first key signs and seals, and all verify and open. Keys are base64url.
 */
export type Keyset = {
  /** The name that its tokens say. */
  service: string;
  /** Sign tokens of this service. */
  identity: KeyPair[];
  /** Public keys of every service, by name. */
  services: Record<string, string[]>;
  /** Public keys for tokens of people and API keys. */
  people: string[];
  /** Sign tokens of people and API keys. Workspaces alone has them. */
  issuer?: KeyPair[];
  /** Keys of links, by purpose. */
  macs: Record<string, string[]>;
  /** Keys for what is stored, by purpose. */
  boxes: Record<string, string[]>;
  /** The public key to which secrets for messages are sealed. */
  letters: string;
  /** Open those. Messages alone has them. */
  letterOpeners?: KeyPair[];
  /**
   * Opens what was stored before services had keys of their own; absent where nothing of that is
   * left.
   */
  before?: {
    /** Derived from each SECRET_KEY. */
    credentials: string[];
  };
};

const variable = 'SERVICE_KEYS';

export function writeKeyset(keyset: Keyset): string {
  return Buffer.from(JSON.stringify(keyset)).toString('base64url');
}

/** One of several keysets, separated by white space, for processes that run several services. */
export function readKeysetOf(text: string, service: string): Keyset {
  const [only = '', ...more] = text.trim().split(/\s+/);
  if (more.length === 0) return readKeyset(only, service);
  const own = [only, ...more].find((each) => parse(each).service === service);
  if (own === undefined) throw new Error(`${variable} has no keys of ${service}`);
  return readKeyset(own, service);
}

/** Reads the variable. Errors name it and what is missing, and show nothing of its value. */
export function readKeyset(text: string, service: string): Keyset {
  const keyset = parse(text);
  if (keyset.service !== service) {
    const other = typeof keyset.service === 'string' ? keyset.service.slice(0, 20) : 'nobody';
    throw new Error(`${variable} has the keys of ${other}, not of ${service}`);
  }
  for (const part of ['identity', 'services', 'people', 'macs', 'boxes', 'letters'] as const) {
    if (!keyset[part]) throw new Error(`${variable} has no ${part}`);
  }
  checkAll(keyset as Keyset);
  checkWhole(keyset as Keyset);
  return keyset as Keyset;
}

function parse(text: string): Partial<Keyset> {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (typeof parsed === 'object' && parsed !== null) return parsed;
  } catch {
    // The parser's error would quote the value.
  }
  throw new Error(`${variable} is not a keyset; \`npm run keys\` makes them`);
}

function checkAll(keyset: Keyset): void {
  const { identity, issuer = [], letterOpeners = [], services, people, letters } = keyset;
  if (identity.length === 0) throw new Error(`${variable} has no identity`);
  checkPairs('identity', 'Ed25519', identity);
  checkPairs('issuer', 'Ed25519', issuer);
  checkPairs('letterOpeners', 'X25519', letterOpeners);
  checkPublic('people', 'Ed25519', people);
  for (const [name, keys] of Object.entries(services)) {
    checkPublic(`services.${name}`, 'Ed25519', keys);
  }
  checkPublic('letters', 'X25519', [letters]);
  const secret = { ...keyset.macs, ...keyset.boxes, before: keyset.before?.credentials ?? [] };
  for (const [name, keys] of Object.entries(secret)) {
    const isWhole = keys.every((key) => Buffer.from(key, 'base64url').length === 32);
    if (!isWhole) throw new Error(`${variable} has a wrong key for ${name}`);
  }
}

/** Otherwise it would be missed at the first use. */
function checkWhole({ service, identity, services, macs, boxes, ...rest }: Keyset): void {
  const purposes = [
    ...Object.keys(boxOwners).filter((name) => boxOwners[name] === service && !boxes[name]?.length),
    ...Object.keys(macOwners).filter(
      (name) => macOwners[name]?.includes(service) && !macs[name]?.length,
    ),
  ];
  if (purposes.length > 0) throw new Error(`${variable} has no key for ${purposes.join(', ')}`);
  if (!services[service]?.includes(identity[0]?.x ?? '')) {
    throw new Error(`${variable} does not list its own public key among those of services`);
  }
  const needed = { workspaces: 'issuer', messages: 'letterOpeners' } as const;
  const part = service === 'workspaces' || service === 'messages' ? needed[service] : undefined;
  if (part && !rest[part]?.length) throw new Error(`${variable} has no ${part}`);
}

function checkPairs(part: string, curve: Curve, pairs: readonly KeyPair[]): void {
  check(part, () => pairs.map((pair) => privateKeyOf(curve, pair)));
}

function checkPublic(part: string, curve: Curve, keys: readonly string[]): void {
  check(part, () => keys.map((key) => publicKeyOf(curve, key)));
}

function check(part: string, make: () => unknown): void {
  try {
    make();
  } catch {
    throw new Error(`${variable} has a wrong key in ${part}`);
  }
}
