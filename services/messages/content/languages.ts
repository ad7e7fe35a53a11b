/** Chooses among a template's languages for a contact's tag; undefined for the template's own content. */
export type ChooseLanguage = (tag: string) => string | undefined;

/**
 * Tags are cut from their end until one fits (`zh-Hant-TW`, `zh-Hant`, `zh`). The workspace's default language is
 * the template's own.
 */
export function languageChooser(
  languages: readonly string[],
  defaultLanguage: string,
): ChooseLanguage {
  const choices = new Map<string, string | undefined>(
    languages.map((language) => [plain(language), language]),
  );
  choices.set(plain(defaultLanguage), undefined);
  return (tag) => {
    for (
      let rest = plain(tag);
      rest !== '';
      rest = rest.slice(0, Math.max(0, rest.lastIndexOf('-')))
    ) {
      if (choices.has(rest)) return choices.get(rest);
    }
    return undefined;
  };
}

/** Many programs write `pt_BR` for `pt-BR`. */
function plain(tag: string): string {
  return tag.trim().toLowerCase().replaceAll('_', '-');
}
