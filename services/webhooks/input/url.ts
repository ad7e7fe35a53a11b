import type { Egress } from '#lib/outside/egress.ts';
import { NameError } from '#lib/outside/names/resolver.ts';

/**
 * The error of an endpoint's address, if any. A name that does not resolve yet is accepted: each
 * callback checks it again.
 */
export async function urlFault(
  egress: Egress,
  { workspaceId, url: text }: { workspaceId: string; url: string },
): Promise<string | undefined> {
  if (/^https?:\/*$/i.test(text)) return 'URL must have a host';
  if (!URL.canParse(text)) return 'invalid URL: it cannot be read';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return 'URL must use http or https scheme';
  }
  if (url.username || url.password) return 'URL must not contain credentials';
  if (text.includes('#')) return 'URL must not contain fragment';
  try {
    await egress.resolve(url.hostname, workspaceId);
    return undefined;
  } catch (error) {
    if (error instanceof NameError) return undefined;
    return 'URL must not use a private or reserved address';
  }
}
