import { createLinkReader } from '#lib/keys/signed-link.ts';
import { escapeHtml } from '#lib/liquid/escape.ts';
import { keyring } from '../setup/service.ts';
import { tracking, trackingToken, workspaceId } from './mailing.ts';

/** A mail as it were if nothing were counted. `links` are those of its program. */

const readLink = createLinkReader(keyring);
const pixel = new RegExp(`<img src="${tracking.opens}${trackingToken}"[^>]*>`);
/** With what may stand behind it in a text, where words follow without a space. */
const link = new RegExp(`${tracking.clicks}${trackingToken}/(\\d+)(?:/([\\w-]+))?`, 'g');
/** A counted link in the text part behind its own words. */
const inBrackets = new RegExp(`\\(${link.source}\\)`, 'g');

export function untrackedHtml(html: string, links: readonly string[]): string {
  return html
    .replace(pixel, '')
    .replace(link, (_, number: string, signed?: string) =>
      escapeHtml(targetOf(links, number, signed)),
    );
}

/** A link whose words are its address stands once where it is not counted. */
export function untrackedText(text: string, links: readonly string[]): string {
  let plain = '';
  let at = 0;
  for (const found of text.matchAll(inBrackets)) {
    const [all, number = '', signed] = found;
    const target = targetOf(links, number, signed);
    plain += text.slice(at, found.index);
    at = found.index + all.length;
    if (plain.endsWith(`${target} `)) plain = plain.slice(0, -1);
    else plain += `(${target})`;
  }
  plain += text.slice(at);
  return plain.replace(link, (_, number: string, signed?: string) =>
    targetOf(links, number, signed),
  );
}

/** The target, and the words that stand directly behind the link. Throws if it leads nowhere. */
function targetOf(links: readonly string[], number: string, signed: string | undefined): string {
  const behind = signed ?? number;
  for (let end = behind.length; end > 0; end -= 1) {
    const read = behind.slice(0, end);
    const target =
      signed === undefined
        ? links[Number(read)]
        : readLink(workspaceId, { token: trackingToken, number: Number(number), signed: read });
    if (target !== undefined) return target + behind.slice(end);
  }
  throw new Error(`the counted link ${number} leads nowhere`);
}
