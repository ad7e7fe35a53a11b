/*
 * The source of a mail, before Liquid runs.
 */
import { replaceAttributes, scanAttributes } from '../html/attributes.ts';
import { withoutInvisible } from '../liquid/parse.ts';
import { liquidSpans, mapLiquid } from '../liquid/spans.ts';

export type MailSource = {
  text: string;
  /** The attribute in whose value an output stands, by where it begins. */
  attributeAt(begin: number): string | undefined;
};

/**
 * A source as it is parsed: quotes stand around attributes that Liquid could break out of, and
 * Liquid holds no invisible characters, so that places in the source are those of its nodes.
 */
export function mailSource(given: string): MailSource {
  const text = replaceAttributes(withoutInvisible(given), ({ value, quote }) =>
    quote === '' && liquidSpans(value).length > 0 && !hasQuotes(value) ? value : undefined,
  );
  const names = new Map(
    scanAttributes(text).flatMap(({ name, start, value }) =>
      liquidSpans(value).map((span): [number, string] => [start + span.start, name]),
    ),
  );
  return { text, attributeAt: (begin) => names.get(begin) };
}

/** Whether its branches bring quotes of their own. */
function hasQuotes(value: string): boolean {
  return /["']/.test(mapLiquid(value, { liquid: () => '' }));
}
