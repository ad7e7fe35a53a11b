import type { Feed, FeedHeader } from '#gen/postrider/broadcasts/v1/feeds_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import type { Keyring, SealedPlace } from '#lib/keys/keyring.ts';
import type { Feed as OpenFeed } from '#lib/outside/feed.ts';
import type { SealedFeed, SealedHeader } from '../broadcast/row.ts';

/** Which feed of which broadcast. */
export type FeedKey = { workspaceId: string; id: string; kind: 'global' | 'recipient' };

/** The purpose of the box of headers. */
export const feedHeaders = 'feed-headers';

export function storedPlace({ workspaceId, id, kind }: FeedKey, name: string): SealedPlace {
  return { workspaceId, row: id, column: `${kind} ${name.toLowerCase()}` };
}

/** Opens a stored feed. */
export function openFeed(keyring: Keyring, key: FeedKey, { url, headers }: SealedFeed): OpenFeed {
  const open = ({ name, sealed_value }: SealedHeader) => ({
    name,
    value: keyring.open(feedHeaders, sealed_value, storedPlace(key, name)),
  });
  return { url, headers: headers.map(open) };
}

/** The field path of a feed in a request, and the prefix of error texts about it. */
export type FieldPlace = { path: string; prefix: string };

const nameMax = 100;
const valueMax = 2_048;
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const printable = /^[\t\x20-\x7e]*$/;
/** Headers of the connection: they would allow request smuggling. */
const reserved =
  /^(host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*)$/i;

export function checkHeaders(headers: readonly FeedHeader[], { path, prefix }: FieldPlace): void {
  const seen = new Set<string>();
  for (const [index, header] of headers.entries()) {
    const fault = headerFault(header, seen);
    if (fault) throw invalidField(`${path}headers[${index}]`, `${prefix}${fault}`);
    seen.add(header.name.toLowerCase());
  }
}

function headerFault({ name, value }: FeedHeader, seen: ReadonlySet<string>): string | undefined {
  if (name === '') return 'header name is required';
  if (name.length > nameMax || !token.test(name)) return 'header name is not valid';
  if (reserved.test(name)) return `header ${name} is not allowed`;
  if (seen.has(name.toLowerCase())) return `header ${name} is given twice`;
  if (value.length > valueMax || !printable.test(value)) return 'header value is not valid';
  return undefined;
}

/**
 * An absent value keeps the stored one, but only for the same server: a secret never goes to
 * another one.
 */
export function sealHeaders(
  keyring: Keyring,
  { url, headers }: Pick<Feed, 'url' | 'headers'>,
  { kept, path, prefix, key }: FieldPlace & { kept: SealedFeed | undefined; key: FeedKey },
): SealedHeader[] {
  const known = kept && originOf(kept.url) === originOf(url) ? kept.headers : [];
  return headers.map(({ name, value }, index) => {
    if (value !== '') return sealHeader(keyring, key, { name, value });
    const same = known.find((header) => header.name.toLowerCase() === name.toLowerCase());
    if (same) return { name, sealed_value: same.sealed_value };
    throw invalidField(`${path}headers[${index}].value`, `${prefix}header value is required`);
  });
}

export function sealHeader(
  keyring: Keyring,
  key: FeedKey,
  { name, value }: { name: string; value: string },
): SealedHeader {
  return { name, sealed_value: keyring.seal(feedHeaders, value, storedPlace(key, name)) };
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : '';
}
