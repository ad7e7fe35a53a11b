import type { SesSettings } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { type ApiAnswer, type HttpApi, UntakenError } from '../http/api.ts';
import { checkAddresses, fieldsOf, messageIdName } from '../http/mail-fields.ts';
import { mimeOf } from '../http/mime.ts';
import { accepted, at, byStatus, deferred, outage, refused, textAt } from '../http/outcome.ts';
import type { SendOutcome } from '../outcome.ts';
import type { Outgoing } from '../outgoing.ts';
import { signRequest } from './sign.ts';

const path = '/v2/email/outbound-emails';
/** docs.aws.amazon.com/ses/latest/dg/quotas.html. A mail is smaller than its 40 MB here anyway. */
const recipientsMax = 50;

/** Errors of SendEmail (docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html). */
const accountErrors =
  /^(?:AccountSuspended|SendingPaused|MailFromDomainNotVerified|NotFound|AccessDenied)(?:Exception)?$/;
const laterErrors = /^(?:TooManyRequests|LimitExceeded|Throttling)(?:Exception)?$/;
/** A quota of a day is no rate: nothing more is taken for hours. */
const quotaWords = /quota/i;

/** Version 2 of the API of Amazon SES. It writes Message-ID and Date itself. */
export function sesApi(
  settings: SesSettings,
  { origin, host }: { origin: string; host: string },
): HttpApi {
  const { region, accessKey, secretKey, configurationSet } = settings;
  const key = { region, accessKey, secretKey, service: 'ses' };
  return {
    origin,
    takesMime: {},
    part: (mail, outgoing) => {
      checkAddresses(outgoing);
      if (outgoing.copies.length >= recipientsMax) {
        throw new UntakenError(`SES takes at most ${recipientsMax} recipients of a mail`);
      }
      const { cc, bcc } = fieldsOf(mail, outgoing);
      return {
        body: JSON.stringify({
          Destination: { ToAddresses: [outgoing.to], CcAddresses: cc, BccAddresses: bcc },
          Content: { Raw: { Data: mimeOf(mail).toString('base64') } },
          ...(configurationSet !== '' && { ConfigurationSetName: configurationSet }),
          EmailTags: [{ Name: messageIdName, Value: outgoing.id }],
        }),
      };
    },
    request: ([part], now) => {
      const body = part?.body ?? '';
      const headers = signRequest({
        ...{ method: 'POST', url: `https://${host}${path}`, body, now, ...key },
        headers: { 'content-type': 'application/json' },
      });
      return { path, headers: { host, ...headers }, body };
    },
    outcomes: (answer, sent) => sent.map((outgoing) => outcomeOf(answer, outgoing)),
  };
}

function outcomeOf(answer: ApiAnswer, outgoing: Outgoing): SendOutcome {
  const { json, status } = answer;
  const id = at(json, 'MessageId');
  if (status === 200 && typeof id === 'string') return accepted(answer, { id });
  const error = errorOf(answer);
  const text = textAt(json, 'message') || textAt(json, 'Message');
  const words = `${error} ${text}`.trim();
  if (accountErrors.test(error) || status === 403) return outage(answer, words);
  if (laterErrors.test(error)) {
    return quotaWords.test(text) ? outage(answer, words) : deferred(answer, words);
  }
  // In its sandbox SES takes verified recipients alone, and names those that are not.
  if (/not verified/i.test(text)) {
    const namesSender = text.toLowerCase().includes(outgoing.from.toLowerCase());
    return namesSender || !text.includes('@') ? outage(answer, words) : refused(answer, words);
  }
  return byStatus(answer, words);
}

/** Such as `MessageRejected`; the header may have a URL behind it. */
function errorOf({ headers, json }: ApiAnswer): string {
  const header = headers['x-amzn-errortype'];
  const name = typeof header === 'string' ? header : textAt(json, '__type');
  return /^(?:[\w.]+#)?(\w{1,100})/.exec(name)?.[1] ?? '';
}
