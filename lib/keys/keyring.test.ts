import { expect, test } from '@jest/globals';
import {
  addKeys,
  dropKeys,
  keysetsOf,
  newInstallation,
  useKeys,
} from '../../deploy/keys/installation.ts';
import { createKeyring, type Keyring } from './keyring.ts';
import { readKeyset, writeKeyset } from './keyset.ts';

const installation = newInstallation();
const keyringOf = (name: string, all = installation): Keyring => {
  const keyset = keysetsOf(all)[name];
  if (!keyset) throw new Error(name);
  return createKeyring(keyset);
};
const [messages, workspaces, webhooks] = ['messages', 'workspaces', 'webhooks'].map((name) =>
  keyringOf(name),
) as [Keyring, Keyring, Keyring];
const place = { workspaceId: 'w1', row: 'r1', column: 'c1' };
const texts = ['', 'pass-word', 'пароль 🔑', 'x'.repeat(10_000)];

test.each(texts.map((text) => [text.slice(0, 10), text]))(
  'the text %p is sealed differently each time, and opens unchanged',
  (_, text) => {
    const seals = [
      [
        () => webhooks.seal('webhook-secrets', text, place),
        webhooks.open.bind(0, 'webhook-secrets'),
      ],
      [() => workspaces.letters.seal(text, place), messages.letters.open],
    ] as const;
    for (const [seal, open] of seals) {
      expect(open(seal(), place)).toBe(text);
      expect(seal()).not.toBe(seal());
    }
  },
);

test.each([
  { ...place, workspaceId: 'w2' },
  { ...place, row: 'r2' },
  { ...place, column: 'c2' },
])('a sealed value does not open at another place: %o', (elsewhere) => {
  const sealed = webhooks.seal('webhook-secrets', 'pass-word', place);
  expect(() => webhooks.open('webhook-secrets', sealed, elsewhere)).toThrow('cannot be opened');
  const letter = workspaces.letters.seal('pass-word', place);
  expect(() => messages.letters.open(letter, elsewhere)).toThrow('cannot be opened');
});

test('a letter is opened by messages alone, not by whoever sealed it', () => {
  const letter = workspaces.letters.seal('pass-word', place);
  for (const name of Object.keys(keysetsOf(installation))) {
    const open = () => keyringOf(name).letters.open(letter, place);
    if (name === 'messages') expect(open()).toBe('pass-word');
    else expect(open).toThrow('cannot be opened');
  }
});

test.each([
  ['feed-headers', 'broadcasts'],
  ['webhook-secrets', 'webhooks'],
  ['workspace-secrets', 'workspaces'],
  ['message-requests', 'messages'],
  ['message-contents', 'messages'],
])('a box of %s is opened by %s alone', (purpose, owner) => {
  const sealed = keyringOf(owner).seal(purpose, 'secret', place);
  for (const name of Object.keys(keysetsOf(installation))) {
    const open = () => keyringOf(name).open(purpose, sealed, place);
    if (name === owner) expect(open()).toBe('secret');
    else expect(open).toThrow('has no key');
  }
});

test.each([3, 8, 20, 60])('a seal whose byte %i was changed does not open', (at) => {
  const change = (sealed: string) => {
    const bytes = Buffer.from(sealed.slice(3), 'base64');
    bytes[at % bytes.length]! ^= 1;
    return sealed.slice(0, 3) + bytes.toString('base64');
  };
  const sealed = change(webhooks.seal('webhook-secrets', 'pass-word', place));
  expect(() => webhooks.open('webhook-secrets', sealed, place)).toThrow('cannot be opened');
  const letter = change(workspaces.letters.seal('pass-word', place));
  expect(() => messages.letters.open(letter, place)).toThrow('cannot be opened');
});

test.each(['p1:', 'p1:AAAA', 'v2:', 'v2:AAAA', '', 'AAAA', 'p1:not base64 !'])(
  'the text %p does not open',
  (sealed) => {
    expect(() => messages.letters.open(sealed, place)).toThrow('cannot be opened');
    expect(() => webhooks.open('webhook-secrets', sealed, place)).toThrow('cannot be opened');
  },
);

test('while keys are replaced, what is sealed at one step opens at the next, and says whether it is current', () => {
  const added = addKeys(installation, {});
  const used = useKeys(added);
  const dropped = dropKeys(used, {});
  const steps = [installation, added, used, dropped];
  const seal = (all: typeof installation) => ({
    text: keyringOf('webhooks', all).seal('webhook-secrets', 'secret', place),
    letter: keyringOf('workspaces', all).letters.seal('secret', place),
  });
  const opens = (all: typeof installation, { text, letter }: ReturnType<typeof seal>) => {
    expect(keyringOf('webhooks', all).open('webhook-secrets', text, place)).toBe('secret');
    expect(keyringOf('messages', all).letters.open(letter, place)).toBe('secret');
  };
  for (const [step, all] of steps.entries()) {
    for (const near of steps.slice(Math.max(0, step - 1), step + 2)) {
      if (near === dropped && step < 2) continue;
      opens(near, seal(all));
    }
  }
  const old = seal(installation);
  expect(() => opens(dropped, old)).toThrow('cannot be opened');
  const isCurrent = ({ text, letter }: typeof old) => [
    keyringOf('webhooks', used).isCurrent('webhook-secrets', text, 'w1'),
    keyringOf('workspaces', used).letters.isCurrent(letter),
  ];
  expect(isCurrent(old)).toEqual([false, false]);
  expect(isCurrent(seal(used))).toEqual([true, true]);
});

test('keys of links stay when the others are replaced, and old ones are read until they are dropped', () => {
  const macOf = (all: typeof installation, at = 0) =>
    keyringOf('messages', all).macs('postrider/links')[at]?.(Buffer.from('m'));
  expect(macOf(dropKeys(useKeys(addKeys(installation, {})), {}))).toEqual(macOf(installation));
  const replaced = useKeys(addKeys(installation, { links: true }));
  expect(macOf(replaced)).not.toEqual(macOf(installation));
  expect(macOf(dropKeys(replaced, {}), 1)).toEqual(macOf(installation));
  expect(macOf(dropKeys(replaced, { links: true }), 1)).toBeUndefined();
});

test('the keys of one service are replaced alone', () => {
  const next = useKeys(addKeys(installation, { only: 'messages', links: true }));
  expect(next.identities.gateway).toEqual(installation.identities.gateway);
  expect(next.boxes['feed-headers']).toEqual(installation.boxes['feed-headers']);
  expect(next.macs['postrider/broadcast-pages']).toHaveLength(1);
  for (const keys of [
    next.identities.messages,
    next.letters,
    next.boxes['message-contents'],
    next.macs['postrider/tracking'],
  ]) {
    expect(keys).toHaveLength(2);
  }
  expect(() => addKeys(installation, { only: 'nobody' })).toThrow('no service is called nobody');
});

test('steps are taken in order', () => {
  const added = addKeys(installation, {});
  expect(() => addKeys(added, {})).toThrow('were added before');
  expect(() => dropKeys(added, {})).toThrow('not in use yet');
  expect(() => useKeys(installation)).toThrow('no keys were added');
});

test('a keyset is read as it was written', () => {
  for (const [name, keyset] of Object.entries(keysetsOf(newInstallation('k1'.repeat(20))))) {
    expect(readKeyset(writeKeyset(keyset), name)).toEqual(keyset);
  }
});

const text = (change: object) =>
  writeKeyset({ ...keysetsOf(installation).messages, ...change } as never);

test.each([
  ['hello', 'SERVICE_KEYS is not a keyset'],
  [text({ service: 'gateway' }), 'SERVICE_KEYS has the keys of gateway, not of messages'],
  [text({ identity: [] }), 'SERVICE_KEYS has no identity'],
  [text({ services: undefined }), 'SERVICE_KEYS has no services'],
  [text({ letters: 'short' }), 'SERVICE_KEYS has a wrong key in letters'],
  [text({ people: ['x'] }), 'SERVICE_KEYS has a wrong key in people'],
  [text({ letterOpeners: [{ x: 'a', d: 'b' }] }), 'wrong key in letterOpeners'],
  [text({ boxes: { 'message-requests': ['AA'] } }), 'wrong key for message-requests'],
  [text({ boxes: {} }), 'SERVICE_KEYS has no key for message-requests'],
  [text({ macs: {} }), 'SERVICE_KEYS has no key for postrider/tracking'],
  [text({ letterOpeners: undefined }), 'SERVICE_KEYS has no letterOpeners'],
  [text({ services: {} }), 'SERVICE_KEYS does not list its own public key'],
])('a wrong keyset is refused: %#', (given, reason) => {
  expect(() => readKeyset(given, 'messages')).toThrow(reason);
});

test('own keys are those of one service and one purpose, and outlive the second step of a rotation', () => {
  const added = addKeys(installation, {});
  const used = useKeys(added);
  const [before, after, dropped] = [installation, used, dropKeys(used, {})].map((all) =>
    keyringOf('webhooks', all).ownKeys('answers'),
  );
  const sealed = before?.box.seal(Buffer.from('secret'), 'row') ?? Buffer.alloc(0);
  const mac = before?.macs[0]?.(Buffer.from('request'));
  expect(after?.box.open(sealed, 'row').toString()).toBe('secret');
  expect(after?.macs.map((each) => each(Buffer.from('request')))).toContainEqual(mac);
  expect(() => dropped?.box.open(sealed, 'row')).toThrow('cannot be opened');
  for (const other of [messages.ownKeys('answers'), webhooks.ownKeys('others')]) {
    expect(() => other.box.open(sealed, 'row')).toThrow('cannot be opened');
    expect(other.macs[0]?.(Buffer.from('request'))).not.toEqual(mac);
  }
});
