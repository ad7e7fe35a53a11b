import type { Outgoing } from '../outgoing.ts';

/*
 * The commands of an envelope. Where reports come back to us, and the server takes the parameters
 * of RFC 3461, they ask for reports of failures and delays, with the headers of the message alone.
 */

export function mailCommand({ id, from, returnPath }: Outgoing, dsn: boolean): string {
  if (returnPath === undefined) return `MAIL FROM:<${from}>\r\n`;
  return `MAIL FROM:<${returnPath}>${dsn ? ` RET=HDRS ENVID=${id}` : ''}\r\n`;
}

export function rcptCommand({ returnPath }: Outgoing, to: string, dsn: boolean): string {
  if (returnPath === undefined || !dsn) return `RCPT TO:<${to}>\r\n`;
  return `RCPT TO:<${to}> NOTIFY=FAILURE,DELAY ORCPT=rfc822;${xtext(to)}\r\n`;
}

/** RFC 3461, 4: an address in ASCII has no other characters that it escapes. */
function xtext(address: string): string {
  return address.replace(/[+=]/g, (char) => (char === '+' ? '+2B' : '+3D'));
}
