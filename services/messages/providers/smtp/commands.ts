import { isAscii } from 'node:buffer';
import { headOf } from '../../mime/head.ts';
import type { Outgoing } from '../outgoing.ts';
import type { ServerFeatures } from './dial.ts';

/*
 * The commands of an envelope. Where reports come back to us, and the server takes the parameters
 * of RFC 3461, they ask for reports of failures and delays, with the headers of the message alone.
 * Mails that we write are ASCII; a finished one may not be, which MAIL says to a server that knows
 * the parameter. To any other server it goes all the same: few of those look at it.
 */

export function mailCommand(
  { id, from, returnPath }: Outgoing,
  features: ServerFeatures,
  finished?: Buffer,
): string {
  const is8Bit = finished !== undefined && !isAscii(finished);
  const body = is8Bit && features.eightBit ? ' BODY=8BITMIME' : '';
  const header = is8Bit && features.utf8 && !isAscii(headOf(finished)) ? ' SMTPUTF8' : '';
  const report = returnPath !== undefined && features.dsn ? ` RET=HDRS ENVID=${id}` : '';
  return `MAIL FROM:<${returnPath ?? from}>${report}${body}${header}\r\n`;
}

export function rcptCommand({ returnPath }: Outgoing, to: string, dsn: boolean): string {
  if (returnPath === undefined || !dsn) return `RCPT TO:<${to}>\r\n`;
  return `RCPT TO:<${to}> NOTIFY=FAILURE,DELAY ORCPT=rfc822;${xtext(to)}\r\n`;
}

/** RFC 3461, 4: an address in ASCII has no other characters that it escapes. */
function xtext(address: string): string {
  return address.replace(/[+=]/g, (char) => (char === '+' ? '+2B' : '+3D'));
}
