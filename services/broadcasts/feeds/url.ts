import { isIP } from 'node:net';
import type { Egress } from '#lib/outside/egress.ts';

const local = /^(.+\.)?(localhost|localdomain|local)$/;
const internal = /^(.+\.)?(internal|corp|intranet)$|^metadata$|\.cluster\.local$/;

/**
 * The error of a feed URL, if any. Host names are checked by syntax only: the addresses that they
 * resolve to are checked on every call.
 */
export function feedUrlFault(egress: Egress, text: string): string | undefined {
  if (/^https?:\/*$/i.test(text)) return 'URL must have a host';
  if (!URL.canParse(text)) return 'invalid URL: it can not be read';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return 'URL must use http or https scheme';
  }
  if (url.protocol === 'http:' && !egress.opens(url.hostname)) return 'URL must use https scheme';
  if (url.username || url.password) return 'URL must not contain credentials';
  if (text.includes('#')) return 'URL must not contain fragment';
  if (text.includes('?')) return 'URL must not contain query parameters';
  return hostFault(egress, url.hostname);
}

function hostFault(egress: Egress, host: string): string | undefined {
  const name = host.replace(/\.$/, '');
  if (internal.test(name)) return 'URL must not use internal domain';
  if (local.test(name)) return 'URL must not use localhost or local domain';
  const isName = isIP(host.replace(/^\[(.*)\]$/, '$1')) === 0;
  if (isName || egress.allows(host)) return undefined;
  return 'URL must not use private or restricted IP address';
}
