import { languageMatcher } from '#lib/languages.ts';
import { de } from './words/de.ts';
import { en, type Words } from './words/en.ts';
import { es } from './words/es.ts';
import { fr } from './words/fr.ts';
import { it } from './words/it.ts';
import { ja } from './words/ja.ts';
import { nl } from './words/nl.ts';
import { pt } from './words/pt.ts';

/** The languages of the pages. */
export const languages: ReadonlyMap<string, Words> = new Map([
  ['en', en],
  ['fr', fr],
  ['de', de],
  ['es', es],
  ['pt', pt],
  ['it', it],
  ['nl', nl],
  ['ja', ja],
]);

/** A language of the pages, and their texts in it. */
export type PageLocale = { language: string; words: Words };

/** Matches a tag, such as `pt-BR`, with a language of the pages. */
export const pageLanguage = languageMatcher(languages.keys());

/** The words in the first of the tags that is a language of the pages, else in English. */
export function localeFor(tags: readonly string[]): PageLocale {
  for (const tag of tags) {
    const language = pageLanguage(tag);
    const words = language === undefined ? undefined : languages.get(language);
    if (language !== undefined && words) return { language, words };
  }
  return { language: 'en', words: en };
}

/**
 * A browser's languages in the order of its header; their weights nearly always follow that order.
 */
export function acceptedLanguages(header: string | undefined): string[] {
  const ranges = (header ?? '').slice(0, 200).split(',');
  return ranges.map((range) => range.split(';')[0] ?? '');
}
