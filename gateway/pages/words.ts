import { de } from './words/de.ts';
import { en, type Words } from './words/en.ts';
import { es } from './words/es.ts';
import { fr } from './words/fr.ts';
import { it } from './words/it.ts';
import { ja } from './words/ja.ts';
import { nl } from './words/nl.ts';
import { pt } from './words/pt.ts';

/** The languages that pages speak. */
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

export type Speech = { language: string; words: Words };

/** The first of the tags that a page speaks, else English. Tags may name a region, as in `pt-BR`. */
export function speak(tags: readonly string[]): Speech {
  for (const tag of tags) {
    const language = tag.trim().slice(0, 2).toLowerCase();
    const words = languages.get(language);
    if (words) return { language, words };
  }
  return { language: 'en', words: en };
}

/** A browser's languages as it lists them; the weights nearly always follow the order. */
export function acceptedLanguages(header: string | undefined): string[] {
  return (header ?? '').slice(0, 200).split(',');
}
