import { outcomeOf } from '../difference.ts';
import type { GivenMail } from '../given.ts';
import type { Paths, ReadMail } from '../paths.ts';
import { surplusOf } from './skeleton.ts';
import { dataOf, type Escape } from './uses.ts';
import { type ValuePair, valuePairs } from './values.ts';

/** The findings of a run. Mails with a `refused` use are refused, so nothing is known of it. */
export type EscapesOfMails = { escapes: Escape[]; refused: string[] };

/** Uses of Liquid in every place of a mail; each is compiled in a mail of its own. */
export async function escapesOfMails(
  { sentBy, previewOf }: Paths,
  uses: readonly string[],
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
        const found = await compared({ use, hasTitle: turn % 2 === 0 }, pair, read);
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
async function compared(
  tried: Tried,
  { nasty, harmless }: ValuePair,
  read: (mail: GivenMail) => Promise<ReadMail>,
): Promise<string[] | undefined> {
  const [found, expected] = await Promise.all([
    outcomeOf(() => read(mailOf(tried, nasty))),
    outcomeOf(() => read(mailOf(tried, harmless))),
  ]);
  if ('refusal' in found || 'refusal' in expected) return undefined;
  return surplusOf(found.html, expected.html);
}

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
