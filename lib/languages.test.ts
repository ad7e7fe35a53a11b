import { expect, test } from '@jest/globals';
import { languageMatcher } from './languages.ts';

const match = languageMatcher(['fr', 'pt-BR', 'zh', 'zh-TW', 'en']);

test.each([
  ['fr', 'fr'],
  ['FR', 'fr'],
  ['fr-CA', 'fr'],
  [' fr_CA ', 'fr'],
  ['fr_FR.UTF-8', 'fr'],
  ['pt-br', 'pt-BR'],
  ['pt_BR', 'pt-BR'],
  ['pt', undefined],
  ['zh-TW', 'zh-TW'],
  ['zh-Hant-HK', 'zh'],
  ['en-GB', 'en'],
  ['de', undefined],
  ['fra', undefined],
  ['', undefined],
  ['-', undefined],
  ['constructor', undefined],
])('the tag “%s” matches %s', (tag, language) => {
  expect(match(tag)).toBe(language);
});
