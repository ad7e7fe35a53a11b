import { engines, newContext, renderNodes } from '#lib/liquid/engine.ts';
import { parseLiquid } from '#lib/liquid/parse.ts';
import { outcomeOf } from '../difference.ts';
import type { GivenMail } from '../given.ts';
import type { Paths, ReadMail } from '../paths.ts';
import { filterUses, tagUses } from './expressions.ts';
import { skeletonOf, surplus } from './skeleton.ts';
import { type ValuePair, valuePairs } from './values.ts';

/** Markup in a contact's field never becomes markup of the mail. */

/** A use of Liquid whose mail has elements or attributes that a harmless value does not make. */
export type Escape = { path: string; use: string; value: string; surplus: string[] };

/** Filters and tags of the engine without a use here. */
export function withoutUse(): string[] {
  const internal = ['raw', 'safeurl', 'trackedlink', 'include', 'render', 'layout', 'block'];
  const { filters, tags } = engines.html;
  return [
    ...Object.keys(filters).filter((name) => !(name in filterUses) && name !== 'raw'),
    ...Object.keys(tags).filter((name) => !(name in tagUses) && !internal.includes(name)),
  ];
}

const dataOf = (value: string) => ({
  V: value,
  contact: { first_name: value, last_name: '<u>last</u>' },
  list: [
    { title: value, no: 1 },
    { title: 'z', no: 2 },
  ],
});

const uses = [
  ...Object.values(filterUses)
    .flat()
    .map((expression) => `{{ ${expression} }}`),
  ...Object.values(tagUses).flat(),
];

/** What a run over mails has found; `refused` are uses that no mail can have, so that nothing is known. */
export type EscapesOfMails = { escapes: Escape[]; refused: string[] };

/** Every filter and tag in every place of a mail. Each use is compiled in a mail of its own. */
export async function escapesOfMails(
  { sentBy, previewOf }: Paths,
  onProgress: (done: number, all: number) => void = () => {},
): Promise<EscapesOfMails> {
  const escapes: Escape[] = [];
  const refused = new Set<string>();
  for (const [index, use] of uses.entries()) {
    for (const [path, read] of [
      ['sent', sentBy],
      ['preview', previewOf],
    ] as const) {
      for (const [turn, pair] of valuePairs.entries()) {
        const found = await surplusOf({ use, hasTitle: turn % 2 === 0 }, pair, read);
        if (found === undefined) refused.add(`${path}: ${use}`);
        else if (found.length > 0) escapes.push({ path, use, value: pair.nasty, surplus: found });
      }
    }
    onProgress(index + 1, uses.length);
  }
  return { escapes, refused: [...refused] };
}

type Tried = { use: string; hasTitle: boolean };

/** Undefined where the mail is refused, which then reaches nobody. */
async function surplusOf(
  tried: Tried,
  { nasty, harmless }: ValuePair,
  read: (mail: GivenMail) => Promise<ReadMail>,
): Promise<string[] | undefined> {
  const [found, expected] = await Promise.all([
    outcomeOf(() => read(mailOf(tried, nasty))),
    outcomeOf(() => read(mailOf(tried, harmless))),
  ]);
  if ('refusal' in found || 'refusal' in expected) return undefined;
  return withoutBreaks(surplus(skeletonOf(found.html), skeletonOf(expected.html)));
}

/** Decoding makes line breaks of any text, which `newline_to_br` shows. */
const withoutBreaks = (elements: string[]) => elements.filter((each) => each !== '<br>');

/** Without a title of its own a mail's title is its subject. */
function mailOf({ use, hasTitle }: Tried, value: string): GivenMail {
  const title = hasTitle ? `<mj-title>${use}</mj-title>` : '';
  const mjml = `<mjml><mj-head>${title}<mj-style>.a { content: "${use}" }</mj-style></mj-head><mj-body><mj-section><mj-column>
<mj-text css-class="${use}">${use}<p title="${use}" class=${inWords(use)}>x</p><a href="https://a.example/?q=${use}">a</a><!-- ${use} --><!--[if mso]>${use}<![endif]--></mj-text>
<mj-image src="https://a.example/1.png" alt="${use}" /><mj-raw><span style='color:${use}'>${use}</span></mj-raw>
</mj-column></mj-section></mj-body></mjml>`;
  return { name: use, subject: use, subjectPreview: use, mjml, data: dataOf(value) };
}

/** In an attribute without quotes only Liquid without white space around it may stand. */
const inWords = (use: string) => (use.startsWith('{{') && !use.includes('" "') ? use : 'x');

/** Every filter behind every other, by the engine alone. */
export function escapesOfPairs(): Escape[] {
  const names = Object.keys(filterUses);
  const escapes: Escape[] = [];
  for (const first of Object.values(filterUses).flat()) {
    for (const second of names.flatMap((name) => filterUses[name]?.filter(isOnInput) ?? [])) {
      const use = `{{ ${first}${second.slice('V'.length)} }}`;
      for (const pair of valuePairs) {
        const [nasty, harmless] = [pair.nasty, pair.harmless].map((value) => rendered(use, value));
        if (nasty === undefined || harmless === undefined || !nasty.includes('<')) continue;
        const found = withoutBreaks(surplus(skeletonOf(nasty), skeletonOf(harmless)));
        if (found.length > 0)
          escapes.push({ path: 'engine', use, value: pair.nasty, surplus: found });
      }
    }
  }
  return escapes;
}

const isOnInput = (use: string) => /^V \| (?!.*\bV\b)/.test(use);

/** Undefined for what is refused. */
function rendered(use: string, value: string): string | undefined {
  try {
    return renderNodes('html', parseLiquid(use, 'html'), newContext('html', dataOf(value)));
  } catch {
    return undefined;
  }
}
