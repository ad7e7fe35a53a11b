/** The headers of a page that anyone may read. */
export function pageHeaders(policy: string): Record<string, string> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  };
}

/**
 * The headers of a page whose address is a secret: it must not leak through a referrer, a frame, a
 * cache or a search engine.
 */
export function secretPageHeaders(policy: string): Record<string, string> {
  return { ...pageHeaders(policy), 'cache-control': 'no-store', 'x-robots-tag': 'noindex' };
}
