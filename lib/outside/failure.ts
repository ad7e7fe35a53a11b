import { EgressError } from './egress-error.ts';
import { NameError } from './names/resolver.ts';

/** Whether a call ended since its time was over. */
export function isTimeout(error: unknown): boolean {
  return textAt(error, 'name') === 'TimeoutError';
}

/** Whether a call failed by trouble of ours, so that nothing is known of the server. */
export function isOurs(error: unknown): boolean {
  return error instanceof NameError && error.isOurs;
}

/**
 * Why a call failed. The errors of sockets and of TLS contain addresses, so only their codes are
 * used, in our own words.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof EgressError) return error.message;
  if (textAt(error, 'name') === 'HTTPParserError') return 'its answer is not HTTP';
  const code = textAt(error, 'code');
  if (code === 'ECONNREFUSED') return 'connection refused';
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|TLS|SSL/.test(code)) return 'its TLS can not be trusted';
  return /ECONNRESET|EPIPE|UND_ERR_SOCKET/.test(code)
    ? 'connection lost'
    : 'the server can not be reached';
}

function textAt(error: unknown, key: 'name' | 'code'): string {
  const value: unknown =
    typeof error === 'object' && error !== null ? Reflect.get(error, key) : undefined;
  return typeof value === 'string' ? value : '';
}
