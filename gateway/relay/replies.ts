import { Code, type ConnectError } from '@connectrpc/connect';
import { BadRequestSchema } from '#gen/google/rpc/error_details_pb.ts';
import { reasonOf } from '#lib/errors/reasons.ts';
import { answer } from '../smtp/answer.ts';

/** RFC 5321, 4.5.3.1.5: a line has 512 bytes. */
const textMax = 400;

export const badKey = () => answer(535, '5.7.8 the password must be a valid API key');
export const tooManyWrong = () => answer(421, '4.7.0 too many wrong commands or passwords');
export const tooManyConnections = () => answer(421, '4.7.0 too many connections');
export const tooSlow = '4.4.2 too slow';
export const shuttingDown = '4.3.2 the server is shutting down';
export const full = () => answer(452, '4.3.1 too many mails are under way, try again later');
export const tooLarge = (maxBytes: number) =>
  answer(552, `5.3.4 a mail has at most ${maxBytes} bytes`);
export const tooManyRecipients = () => answer(452, '4.5.3 too many recipients for one mail');
export const tooManyPieces = () => answer(554, '5.6.0 too many lines begin with a dot');
export const beginsWithSpace = () => answer(554, '5.6.0 the mail begins with a space');
export const notNow = () => answer(451, '4.3.0 try again later');

/**
 * The reply for an error of a service. A client that gets 4xx sends the mail again, so that 5xx is
 * for mails that are refused until they or a setting change.
 */
export function replyTo(error: ConnectError): Error & { responseCode: number } {
  const text = shown(error.rawMessage);
  switch (error.code) {
    case Code.Unauthenticated:
      return badKey();
    case Code.PermissionDenied:
      return answer(550, `5.7.1 ${text}`);
    case Code.InvalidArgument:
      return answer(...codesOf(fieldOf(error), text));
    case Code.NotFound:
      return answer(554, `5.6.0 ${text}`);
    case Code.FailedPrecondition:
      return answer(554, `5.3.5 ${text}`);
    case Code.ResourceExhausted:
      return reasonOf(error) === 'QUOTA_EXCEEDED'
        ? answer(452, `4.3.1 ${text}`)
        : answer(451, `4.7.1 ${text}`);
    default:
      return notNow();
  }
}

/** Whether it is a fault of ours, and not the client's. */
export function isOurs({ responseCode }: { responseCode: number }): boolean {
  return responseCode === notNow().responseCode;
}

function codesOf(field: string, text: string): [code: number, text: string] {
  // The text may name a field of the API.
  if (/(?:^|\.)from(?:\.email)?$/.test(field)) {
    return [550, `5.7.1 ${text.replace(/^content\.from\.email /, 'From ')}`];
  }
  if (field.startsWith('recipients')) return [550, `5.1.3 ${text}`];
  return /too large/.test(text) ? [552, `5.3.4 ${text}`] : [554, `5.6.0 ${text}`];
}

function fieldOf(error: ConnectError): string {
  const [detail] = error.findDetails(BadRequestSchema);
  return detail?.fieldViolations[0]?.field ?? '';
}

const shown = (text: string) => text.replace(/[^\x20-\x7e]/g, '?').slice(0, textMax);
