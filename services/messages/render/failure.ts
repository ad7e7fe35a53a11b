import { withoutAddresses } from '#lib/log.ts';

/** Stored in the record. A server's words never begin like this: they begin with a code. */
const opening = 'the message can not be rendered: ';
const infoLength = 255;

/** The recorded info of a message that can't be rendered. */
export function renderFailureInfo(error: unknown): string {
  const words = error instanceof Error ? (error.message.split('\n')[0] ?? '') : 'unknown reason';
  return `${opening}${withoutAddresses(words)}`.slice(0, infoLength);
}

/**
 * The reason in the recorded info of a message that can't be rendered; undefined for any other
 * info.
 */
export function renderFailureReason(info: string): string | undefined {
  return info.startsWith(opening) ? withoutValues(info.slice(opening.length)) : undefined;
}

/**
 * Errors quote values or end in one, and their line and column are those of a piece, not of the
 * template.
 */
function withoutValues(words: string): string {
  return words.replace(/(\s*[(:"']|, line:).*$/, '') || 'an error';
}
