/**
 * Matches a language tag with known languages, by RFC 4647 "lookup": subtags are cut from its end
 * until one fits (`zh-Hant-TW`, `zh-Hant`, `zh`). Tags come from other people's programs, so
 * malformed ones match by the part that is well-formed. Returns the language as given; undefined if
 * none fits.
 */
export function languageMatcher(languages: Iterable<string>): (tag: string) => string | undefined {
  const known = new Map([...languages].map((language) => [plain(language), language]));
  return (tag) => {
    let rest = plain(tag);
    while (rest !== '') {
      const language = known.get(rest);
      if (language !== undefined) return language;
      rest = rest.slice(0, Math.max(0, rest.lastIndexOf('-')));
    }
    return undefined;
  };
}

/** Many programs write `pt_BR` for `pt-BR`. */
function plain(tag: string): string {
  return tag.trim().toLowerCase().replaceAll('_', '-');
}
