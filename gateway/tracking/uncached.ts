/** If a proxy cached a pixel or a link, only the first of its readers would count. */
export const uncached = { 'cache-control': 'no-store, private', 'x-robots-tag': 'noindex' };
