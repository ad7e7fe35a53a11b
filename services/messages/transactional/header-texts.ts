import { canonicalAddress } from '#lib/address.ts';
import { invalidField } from '#lib/errors/errors.ts';

/** Of a subject, a preview line or a name. */
const textMax = 255;
const headersMax = 20;
/** With its name below the 998 characters of a line (RFC 5322). */
const headerValueMax = 900;
const ownHeaders = new Set(
  'references in-reply-to importance priority auto-submitted precedence comments keywords organization'.split(
    ' ',
  ),
);

/**
 * By these, providers take orders from whoever writes a mail: other recipients, templates,
 * accounts, streams.
 */
const steering =
  /^x-(?:smtpapi|msys-api|apiheader|virtual-mta|xs(?:mailing|message)id|(?:greenarrow|mailgun|mc|mandrill|pm|postmark|ses|mailin|sib|mj|mt|mailjet|mailersend|sparkpost|elasticemail|postal|smtp2go)-.*)$/i;

/** Whether a header field of this name steers a provider. */
export const isSteering = (name: string) => steering.test(name);

/** An address for replies; empty for none. */
export function checkReplyTo(replyTo: string, field: string): string {
  const reply = replyTo === '' ? '' : canonicalAddress(replyTo);
  if (reply !== undefined) return reply;
  throw invalidField(field, `replyTo '${shown(replyTo)}' must be a valid email address`);
}

/** An error repeats no more of a value than what shows which one it is. */
export function shown(text: string): string {
  return text.slice(0, 100).replace(/\p{Cc}/gu, ' ');
}

export function checkText(text: string, name: string, field: string): string {
  if ([...text].length > textMax) {
    throw invalidField(field, `${name} length must not exceed ${textMax} characters`);
  }
  if (/[\p{Cc}\u2028\u2029]/u.test(text)) {
    throw invalidField(field, `${name} must not contain line breaks or control characters`);
  }
  return text;
}

/** Checks header fields of a caller's own. Every fault is a 400 that names the field. */
export function checkHeaders(
  headers: Readonly<Record<string, string>>,
  field: string,
): Record<string, string> {
  const names = Object.keys(headers);
  if (names.length > headersMax) {
    throw invalidField(field, `headers must have at most ${headersMax} fields`);
  }
  if (new Set(names.map((name) => name.toLowerCase())).size < names.length) {
    throw invalidField(field, 'headers must name each field once');
  }
  for (const [name, value] of Object.entries(headers)) {
    const isOwn = /^x-[a-z0-9-]{1,70}$/i.test(name) || ownHeaders.has(name.toLowerCase());
    if (!isOwn || isSteering(name))
      throw invalidField(field, `header '${shown(name)}' is not allowed`);
    if (value.length > headerValueMax || /[\p{Cc}\u2028\u2029]/u.test(value)) {
      const text = `header '${name}' must be one line of at most ${headerValueMax} characters`;
      throw invalidField(field, text);
    }
  }
  return { ...headers };
}
