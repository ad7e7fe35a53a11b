import { isUtf8 } from 'node:buffer';
import type { SparkPostSettings } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { MailParts } from '../../mime/mail.ts';
import { type ApiAnswer, type HttpApi, type MailPart, UntakenError } from '../http/api.ts';
import { checkAddresses, checkSize, messageIdName } from '../http/mail-fields.ts';
import { mimeOf } from '../http/mime.ts';
import { accepted, at, bounced, byStatus, outage, textAt } from '../http/outcome.ts';
import type { SendOutcome } from '../outcome.ts';
import type { Outgoing } from '../outgoing.ts';

/** developers.sparkpost.com/api/transmissions: of the whole mail. */
const sizeMaxMb = 20;

/**
 * Codes of errors (support.sparkpost.com, extended error codes): 5002 no valid recipient; 7001 and
 * 1902 sending domain.
 */
const noRecipientCode = '5002';
const accountCodes = new Set(['7001', '1902']);

/** SparkPost's API of an account. */
export function sparkpostApi({ apiKey, sandboxMode }: SparkPostSettings, origin: string): HttpApi {
  const headers = { authorization: apiKey, 'content-type': 'application/json' };
  return {
    origin,
    takesMime: { sizeMaxMb, isUtf8Only: true },
    part: (mail, outgoing) => partOf(mail, outgoing, sandboxMode),
    request: ([part]) => ({ path: '/api/v1/transmissions', headers, body: part?.body ?? '' }),
    outcomes: (answer, sent) => sent.map(() => outcomeOf(answer)),
  };
}

function partOf(mail: MailParts, outgoing: Outgoing, sandbox: boolean): MailPart {
  checkAddresses(outgoing);
  const mime = mimeOf(mail);
  checkSize(mime.length, sizeMaxMb);
  if (!isUtf8(mime)) throw new UntakenError('the mail is no UTF-8, as the provider needs it');
  const body = JSON.stringify({
    options: {
      // Postrider has links and pixels of its own.
      open_tracking: false,
      click_tracking: false,
      // The mail is rendered; `{{` in it is meant.
      perform_substitutions: false,
      // List-Unsubscribe is replaced otherwise (github.com/SparkPost/python-sparkpost/issues/163).
      transactional: true,
      ...(sandbox && { sandbox }),
    },
    metadata: { [messageIdName]: outgoing.id },
    recipients: [outgoing.to, ...outgoing.copies].map((email) => ({ address: { email } })),
    content: { email_rfc822: mime.toString() },
  });
  return { body };
}

function outcomeOf(answer: ApiAnswer): SendOutcome {
  const { json, status } = answer;
  const id = at(json, 'results', 'id');
  if (status === 200 && at(json, 'results', 'total_accepted_recipients') !== 0) {
    if (typeof id === 'string') return accepted(answer, { id });
  }
  const code = textAt(json, 'errors', 0, 'code');
  const texts = ['message', 'description'].map((name) => textAt(json, 'errors', 0, name));
  const words = [code, ...texts].filter((text) => text !== '').join(' ');
  if (status < 500 && code === noRecipientCode) return bounced(answer, words);
  return accountCodes.has(code) ? outage(answer, words) : byStatus(answer, words);
}
