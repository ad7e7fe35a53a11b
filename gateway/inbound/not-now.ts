import { failureAnswer, type HttpAnswer } from '../http/answer.ts';
import { retryAfter } from '../http/limit-headers.ts';

/**
 * The status after which a provider sends the same reports again. Providers differ: some take any
 * status but one for a refusal.
 */
const statuses: Readonly<Record<string, number>> = {
  // Ours to define: whoever posts the lines of a log waits as `Retry-After` says.
  smtp: 503,
  // Drops an event after any other 4xx, and after any 5xx.
  brevo: 429,
};
/** SES, Mailgun, Postmark, SendGrid, SparkPost, Mailjet and Resend repeat after any 5xx. */
const statusDefault = 503;
const retryInMs = 30_000;

/** The answer to reports that cannot be stored now. */
export function notNow(provider: string, requestId: string): HttpAnswer {
  const status = Object.hasOwn(statuses, provider) ? statuses[provider] : undefined;
  const failure = {
    ...{ status: status ?? statusDefault, code: 'unavailable' },
    ...{ text: 'Reports cannot be stored now', headers: retryAfter(retryInMs) },
  };
  return failureAnswer(failure, requestId);
}
