import { languageMatcher } from '#lib/languages.ts';

/**
 * Chooses one of a template's languages for a contact's tag; undefined for the template's own
 * content.
 */
export type ChooseLanguage = (tag: string) => string | undefined;

/** The workspace's default language is the template's own. */
export function languageChooser(
  languages: readonly string[],
  defaultLanguage: string,
): ChooseLanguage {
  const match = languageMatcher([...languages, defaultLanguage]);
  return (tag) => {
    const language = match(tag);
    return language === defaultLanguage ? undefined : language;
  };
}
