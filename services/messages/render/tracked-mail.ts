/*
 * Counts opens and clicks of a finished mail: links and a pixel in its HTML, and nothing else of it
 * changes. A mail that cannot be changed without doubt goes out as it is, with the reason.
 */
import { type Attribute, replaceAttributes } from '#lib/html/attributes.ts';
import { isWebUrl, linkTags } from '#lib/html/links.ts';
import { escapeHtml } from '#lib/liquid/escape.ts';
import { type LinkWriting, linkWriter, type WriteLink } from '#lib/mail/links.ts';
import { stuffedDots } from '../mime/buffer.ts';
import { type Edit, type HtmlPart, htmlPartsOf, UnreadableMail } from '../mime/html-parts.ts';

/** Hits of a mail that are counted. */
export type Counted = { opens: boolean; clicks: boolean };

export type TrackRequest = {
  mail: Uint8Array;
  counted: Counted;
  writing: LinkWriting;
  /** The message's tracking token. */
  token: string;
  /** Of the mail with its stuffed dots. */
  maxBytes: number;
};

export type TrackAnswer = { edits: Edit[] } | { reason: string };

/** One that is read and changed in some milliseconds. */
const quickMaxBytes = 64 * 1024;
const quickMaxLinks = 200;

class TooManyLinks extends Error {
  override name = 'TooManyLinks';
}

/**
 * The changes of a mail; the reason where it is left as it is. Throws where more than `linksMax`
 * links would change, which an encoding may hide.
 */
export function trackMail(
  { mail: given, ...request }: TrackRequest,
  linksMax = Number.POSITIVE_INFINITY,
): TrackAnswer {
  const mail = Buffer.from(given.buffer, given.byteOffset, given.length);
  try {
    const edits = editsOf(htmlPartsOf(mail), request, linksMax);
    const more = edits.reduce((sum, { start, end, bytes }) => sum + bytes.length - end + start, 0);
    const isTooLarge =
      mail.length + more > request.maxBytes / 2 &&
      mail.length + stuffedDots(mail) + more > request.maxBytes;
    return isTooLarge ? { reason: 'it would be too large' } : { edits };
  } catch (error) {
    if (error instanceof TooManyLinks) throw error;
    // A fault of ours is no reason to hold a mail back.
    return { reason: error instanceof UnreadableMail ? error.message : 'it cannot be read' };
  }
}

/** The same outside of a thread; undefined for a mail that takes longer than some milliseconds. */
export function trackQuickly(request: TrackRequest): TrackAnswer | undefined {
  if (request.mail.length > quickMaxBytes) return undefined;
  try {
    return trackMail(request, quickMaxLinks);
  } catch (error) {
    if (error instanceof TooManyLinks) return undefined;
    throw error;
  }
}

function editsOf(
  parts: readonly HtmlPart[],
  { counted, writing, token }: Omit<TrackRequest, 'mail'>,
  linksMax: number,
): Edit[] {
  const { tracking } = writing;
  if (!tracking || token === '') return [];
  const write = linkWriter(writing);
  let links = 0;
  const writeLink: WriteLink = (...asked) => {
    links += 1;
    if (links > linksMax) throw new TooManyLinks();
    return write(...asked);
  };
  const last = parts.length - 1;
  return parts.flatMap((part, index) => {
    const { html } = part;
    const linked = counted.clicks ? withLinks(part, { writeLink, token }) : html;
    // One pixel is enough.
    const isPixels = counted.opens && index === last;
    const changed = isPixels ? withPixel(linked, tracking.opens + token) : linked;
    return changed === html ? [] : part.edits(changed);
  });
}

/** Clicks of all links share one number: a set of links is kept for good. */
const number = 0;

function withLinks(
  { html, isUtf8 }: HtmlPart,
  { writeLink, token }: { writeLink: WriteLink; token: string },
): string {
  const linkOf = ({ tag, name, value }: Attribute) => {
    if (name !== 'href' || !linkTags.has(tag)) return undefined;
    const rendered = textOf(value, isUtf8)?.trim();
    // Readers disagree about an address that goes on in the next line.
    if (rendered === undefined || !isWebUrl(rendered) || /[\r\n\t]/.test(rendered))
      return undefined;
    const asked = { rendered, start: rendered, attribute: name, number };
    const { url, link } = writeLink(asked, { token, systemUrls: [] });
    return link === url ? undefined : escapeHtml(link);
  };
  // Braces are no Liquid here.
  return replaceAttributes(html, linkOf, { hasLiquid: false });
}

/** Undefined for an address whose letters are not known. */
function textOf(bytes: string, isUtf8: boolean): string | undefined {
  if (!/[\x80-\xff]/.test(bytes)) return bytes;
  const text = isUtf8 ? Buffer.from(bytes, 'latin1').toString() : '\ufffd';
  return text.includes('\ufffd') ? undefined : text;
}

function withPixel(html: string, address: string): string {
  const pixel = `<img src="${escapeHtml(address)}" width="1" height="1" alt="" style="display:block">`;
  const end = html.toLowerCase().lastIndexOf('</body');
  return end < 0 ? html + pixel : html.slice(0, end) + pixel + html.slice(end);
}
