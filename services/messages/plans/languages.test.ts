import { expect, test } from '@jest/globals';
import { languageChooser } from './languages.ts';

const languages = ['fr', 'pt-BR', 'zh', 'zh-TW', 'en'];

test.each([
  ['fr', 'fr'],
  ['FR', 'fr'],
  ['fr-CA', 'fr'],
  [' fr_CA ', 'fr'],
  ['pt-br', 'pt-BR'],
  ['pt_BR', 'pt-BR'],
  ['pt', undefined],
  ['pt-PT', undefined],
  ['zh-TW', 'zh-TW'],
  ['zh-Hant-HK', 'zh'],
  ['en', undefined],
  ['en-GB', undefined],
  ['de', undefined],
  ['', undefined],
  ['-', undefined],
  ['constructor', undefined],
])('a contact that speaks “%s” gets the translation %s where the default is en', (tag, chosen) => {
  expect(languageChooser(languages, 'en')(tag)).toBe(chosen);
});

test('a translation for a region comes before the default for its language', () => {
  expect(languageChooser(['pt-BR'], 'pt')('pt-BR')).toBe('pt-BR');
  expect(languageChooser(['pt-BR'], 'pt')('pt-PT')).toBeUndefined();
});
