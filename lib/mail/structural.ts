/*
 * Finds the marks whose values decide what is compiled, and puts these values in.
 *
 * MJML computes with most of its attributes, inlined CSS chooses elements, and a style or a `pre`
 * decides what the text part says. Everywhere else a value only passes through.
 */
import {
  type Attribute,
  type OpeningTag,
  replaceAttributes,
  scanTags,
} from '../html/attributes.ts';
import type { Marked } from './marker.ts';
import { spansOf, withValues } from './marks.ts';
import {
  fixedAddress,
  guardedAddress,
  isAddress,
  isComputedAddress,
  nowhere,
  withoutSpaces,
} from './urls.ts';

export type SourceKind = 'mjml' | 'html';

/** Attributes that components of MJML write as they are. */
const passing = new Set(['href', 'src', 'alt', 'title', 'srcset', 'rel', 'target']);
/** Elements whose content decides what MJML computes or what the text part says. */
const styling = new Set(['style', 'mj-style', 'mj-html-attributes']);
/** Attributes of HTML that the text part, fonts or inlined CSS depend on. */
const deciding = new Set(['style', 'hidden', 'role', 'start', 'type']);
const selected = new Set(['class', 'id']);
/** Attributes that the CSS that is inlined may select by. */
type Selected = 'none' | 'named' | 'all';

type Place = { tag: OpeningTag; attribute: Attribute | undefined };
type Range = { start: number; end: number };

/**
 * A part of the values that a structure depends on: one of them, or whether an address that they
 * make may be used.
 */
export type Deciding = { by: 'value'; number: number } | AddressDecision;

type AddressDecision = {
  by: 'address';
  parts: readonly (string | number)[];
  /** Schemes that the workspace allows. */
  schemes?: readonly string[] | undefined;
};

/** The values that decide, as a key. */
export function decisionOf(deciding: readonly Deciding[], values: Marked['values']): string {
  return deciding
    .map((each) => {
      if (each.by === 'address') return useOf(each, values);
      const html = values[each.number]?.html ?? '';
      return `${html.length}:${html}`;
    })
    .join('');
}

/** How the address of a link is used whose beginning is a value: the text says nothing of some. */
export function useOf(
  { parts, schemes }: AddressDecision,
  values: Marked['values'],
): 'stopped;' | 'here;' | 'link;' {
  const rendered = parts.map((part) =>
    typeof part === 'string' ? part : (values[part]?.html ?? ''),
  );
  const address = guardedAddress(rendered.join(''), '', 'href', schemes);
  if (address === nowhere) return 'stopped;';
  return address.startsWith('#') ? 'here;' : 'link;';
}

/** The source with the values that belong to it. */
export function settled(
  { source: given, nonce, values }: Marked,
  kind: SourceKind,
  schemes?: readonly string[],
): { source: string; deciding: Deciding[] } {
  const deciding: Deciding[] = [];
  const source = replaceAttributes(
    given,
    ({ tag, name, value }) => {
      // MJML takes `$&` in it for a pattern.
      if (tag === 'mj-social-element' && name === 'href') return value.replaceAll('$', '&#36;');
      if (!isComputedAddress({ tag, name })) return undefined;
      const parts = spansOf(value, nonce);
      if (!parts.some((part) => part.kind === 'value')) return fixedAddress(value);
      const rendered = withValues(value, nonce, (number) => {
        deciding.push({ by: 'value', number });
        return values[number]?.html;
      });
      const [first] = parts;
      return guardedMarkup(rendered, first?.kind === 'text' ? first.text : '', name, schemes);
    },
    { hasLiquid: false },
  );
  const tags = scanTags(source, { hasLiquid: false });
  const styles = contentsOf(source, tags, isInlineStyle);
  const isInStyle = insideOf([
    ...contentsOf(source, tags, ({ name }) => styling.has(name)),
    ...styles,
  ]);
  const isInPre = insideOf(contentsOf(source, tags, ({ name }) => name === 'pre'));
  const isClosing = insideOf(closingTags(source));
  const isSelected = selectedBy(source, { tags, styles });
  const placeAt = placeFinder(tags);
  const whole = withValues(source, nonce, (number, at) => {
    const value = values[number];
    if (value === undefined) return undefined;
    const place = placeAt(at);
    const isInClosing = isClosing(at);
    const mayPass = place ? passes(place, { kind, selected: isSelected }) : !isInClosing;
    const isShown = isInPre(at) && !isAddress(place?.attribute?.name ?? '');
    if (!isInStyle(at) && !isShown && mayPass) return undefined;
    deciding.push({ by: 'value', number });
    const isBare = place ? !isQuoted(place) : isInClosing;
    return isBare && !value.isRaw ? value.text.replace(/[^\w\s-]/g, '') : value.html;
  });
  return { source: whole, deciding };
}

/** An address that stays as it is spelled where it may be used. */
function guardedMarkup(...address: Parameters<typeof guardedAddress>): string {
  return guardedAddress(...address) === nowhere ? nowhere : withoutSpaces(address[0]);
}

/** Elsewhere in a tag a value could become an attribute. */
function isQuoted({ attribute }: Place): boolean {
  return attribute !== undefined && attribute.quote !== '';
}

function passes(
  { tag, attribute }: Place,
  { kind, selected: by }: { kind: SourceKind; selected: Selected },
): boolean {
  if (!attribute || attribute.quote === '') return false;
  if (kind === 'mjml' && /^mj(ml$|-)/.test(tag.name)) {
    return tag.name !== 'mj-font' && passing.has(attribute.name);
  }
  if (deciding.has(attribute.name)) return false;
  if (by === 'named') return !selected.has(attribute.name);
  return by === 'none' || isAddress(attribute.name);
}

function selectedBy(
  source: string,
  { tags, styles }: { tags: readonly OpeningTag[]; styles: readonly Range[] },
): Selected {
  if (styles.some(({ start, end }) => source.slice(start, end).includes('['))) return 'all';
  const isInlined = styles.length > 0 || tags.some(({ name }) => name === 'mj-html-attributes');
  return isInlined ? 'named' : 'none';
}

function isInlineStyle({ name, attributes }: OpeningTag): boolean {
  return name === 'mj-style' && attributes.some((each) => each.name === 'inline');
}

/** Closing tags, whose names may be values. */
function closingTags(source: string): Range[] {
  return [...source.matchAll(/<\/[a-z][^<>]*>/gi)].map(({ 0: tag, index }) => ({
    start: index,
    end: index + tag.length,
  }));
}

/** Whether places that are asked for in their order stand in one of the ranges. */
function insideOf(ranges: readonly Range[]): (at: number) => boolean {
  const ordered = ranges.toSorted((a, b) => a.start - b.start);
  let next = 0;
  let end = 0;
  return (at) => {
    for (let range = ordered[next]; range && range.start <= at; range = ordered[next]) {
      end = Math.max(end, range.end);
      next += 1;
    }
    return at < end;
  };
}

/** The contents of elements, between their tags. */
function contentsOf(
  source: string,
  tags: readonly OpeningTag[],
  isMeant: (tag: OpeningTag) => boolean,
): Range[] {
  const ranges: Range[] = [];
  for (const { name, end } of tags.filter(isMeant)) {
    // Each search begins where the last one ended, so that no character is read twice.
    if (end < (ranges.at(-1)?.end ?? 0)) continue;
    const close = source.indexOf(`</${name}`, end);
    ranges.push({ start: end, end: close < 0 ? source.length : close });
  }
  return ranges;
}

/** Finds the tag and the attribute of places that are asked for in their order. */
function placeFinder(tags: readonly OpeningTag[]): (at: number) => Place | undefined {
  let next = 0;
  let attributes: Iterator<Attribute> | undefined;
  let attribute: Attribute | undefined;
  return (at) => {
    while (next < tags.length && (tags[next]?.end ?? 0) <= at) {
      next += 1;
      attributes = undefined;
    }
    const tag = tags[next];
    if (!tag || at < tag.start) return undefined;
    if (!attributes) {
      attributes = tag.attributes.values();
      attribute = attributes.next().value;
    }
    while (attribute && attribute.end <= at) attribute = attributes.next().value;
    return { tag, attribute: attribute && at >= attribute.start ? attribute : undefined };
  };
}
