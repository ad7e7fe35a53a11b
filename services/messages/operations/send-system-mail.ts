import { Code, ConnectError } from '@connectrpc/connect';
import { canonicalAddress } from '#lib/address.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { refusal } from '#lib/errors/reasons.ts';
import type { Context, Methods } from '../context.ts';

export function sendSystemMail({ systemMail }: Context): Methods['sendSystemMail'] {
  return async ({ key, to: given, subject, text }) => {
    const to = canonicalAddress(given);
    if (!to) throw invalidField('to', 'to is not a valid address');
    if (!systemMail) {
      throw refusal('SYSTEM_MAIL_OFF', "no server is set for the installation's own mail");
    }
    try {
      await systemMail.send({ key, to, subject, text });
    } catch (error) {
      throw refusalOf(error);
    }
    return {};
  };
}

/** The server's words may hold the address, so they are left out. */
function refusalOf(error: unknown): ConnectError {
  const code = error instanceof Error ? Reflect.get(error, 'responseCode') : undefined;
  if (
    typeof code === 'number' &&
    code >= 500 &&
    Reflect.get(error as Error, 'command') === 'RCPT TO'
  ) {
    return new ConnectError(
      `the system's mail server refused the recipient (${code})`,
      Code.InvalidArgument,
    );
  }
  const status = typeof code === 'number' ? ` (${code})` : '';
  return new ConnectError(
    `the system's mail server did not accept the mail${status}`,
    Code.Unavailable,
  );
}
