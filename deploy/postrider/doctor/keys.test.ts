import { expect, test } from '@jest/globals';
import { writeKeyset } from '#lib/keys/keyset.ts';
import { type Installation, keysetsOf, newInstallation } from '../../keys/installation.ts';
import { checkKeys } from './keys.ts';

const textsOf = (installation: Installation) =>
  Object.fromEntries(
    Object.entries(keysetsOf(installation)).map(([name, keyset]) => [name, writeKeyset(keyset)]),
  );
const installation = textsOf(newInstallation());

test('keysets of one installation fit together', () => {
  const [finding, ...more] = checkKeys(Object.values(installation).join('\n'));
  expect(finding).toMatchObject({ state: 'ok' });
  expect(finding?.text).toContain('fit together');
  expect(more).toEqual([]);
});

test('a keyset of another installation is named', () => {
  const other = textsOf(newInstallation());
  const texts = checkKeys(`${installation.workspaces} ${other.messages}`).map(({ text }) => text);
  expect(texts).toContain('messages does not know the key that workspaces signs with');
  expect(texts).toContain('messages does not know the key that signs tokens of people');
  expect(texts).toContain('messages cannot open what workspaces seals for it');
});

test('a fault of a keyset is reported without its value', () => {
  const [finding] = checkKeys('secret');
  expect(finding?.state).toBe('wrong');
  expect(finding?.text).not.toContain('secret');
  expect(checkKeys('')[0]?.text).toBe('is not set');
});
