import { withoutAddresses } from '#lib/log.ts';

/** No server's words begin like this: they begin with a code. */
const opening = 'the message can not be rendered: ';
const infoLength = 255;

/** What the record says of a message that can't be rendered. */
export function unrenderedInfo(error: unknown): string {
  const words = error instanceof Error ? (error.message.split('\n')[0] ?? '') : 'unknown reason';
  return `${opening}${withoutAddresses(words)}`.slice(0, infoLength);
}

/** Why a message can't be rendered, by what the record says of it; undefined of any other. */
export function unrenderedReason(info: string): string | undefined {
  return info.startsWith(opening) ? withoutValues(info.slice(opening.length)) : undefined;
}

/** Errors quote values, or end in one; their place is that of a piece and not of the template. */
function withoutValues(words: string): string {
  return words.replace(/(\s*[(:"']|, line:).*$/, '') || 'an error';
}
