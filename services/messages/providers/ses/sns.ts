import { verify as verifySignature, X509Certificate } from 'node:crypto';
import { createCache } from '#lib/cache.ts';
import { isObject } from '#lib/json/text.ts';
import type { ReportAccount } from '../../reports/account.ts';
import { textIn } from '../../reports/event.ts';
import { objectsIn } from '../../reports/json-reports.ts';
import { UnreadableBody, WrongSignature } from '../../reports/report.ts';
import { awsHost } from './host.ts';

/*
 * Messages of Amazon SNS (docs.aws.amazon.com/sns, "Verifying the signatures of Amazon SNS
 * messages"). Anybody's topic has a valid signature, so that the topic must be that of the
 * integration, and the certificate and the confirmation are asked for at the host of its region
 * alone, whatever the message says.
 */

/** A message whose signature is right and whose topic is that of the integration. */
export type SnsMessage = {
  Type: string;
  MessageId: string;
  TopicArn: string;
  Message: string;
  Token: string;
};

const signedFields: Readonly<Record<string, readonly string[]>> = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  ...Object.fromEntries(
    ['SubscriptionConfirmation', 'UnsubscribeConfirmation'].map((type) => [
      type,
      ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
    ]),
  ),
};

/** By `SignatureVersion`. */
const digests: Readonly<Record<string, string>> = { '1': 'RSA-SHA1', '2': 'RSA-SHA256' };

/** A region has few at a time. */
const certificatesMax = 200;
const certificateKeepMs = 24 * 60 * 60 * 1_000;

export function createSns(): (body: Uint8Array, account: ReportAccount) => Promise<SnsMessage> {
  const certificates = createCache<X509Certificate>({
    entriesMax: certificatesMax,
    keepMs: certificateKeepMs,
  });
  return async (body, account) => {
    const fields = fieldsIn(body);
    const [type, topic] = [textIn(fields, 'Type'), textIn(fields, 'TopicArn')];
    const names = Object.hasOwn(signedFields, type) ? signedFields[type] : undefined;
    const digest = digests[textIn(fields, 'SignatureVersion')];
    const url = textIn(fields, 'SigningCertURL');
    if (!names || !digest || topic !== topicIn(account) || !isPinned(url, account)) {
      throw new WrongSignature();
    }
    const { publicKey } = await certificates(url, () => fetchCertificate(url, account));
    const signature = Buffer.from(textIn(fields, 'Signature'), 'base64');
    if (!verifySignature(digest, Buffer.from(canonical(fields, names)), publicKey, signature)) {
      throw new WrongSignature();
    }
    const field = (name: string) => stringIn(fields, name) ?? '';
    return {
      ...{ Type: type, TopicArn: topic },
      ...{ MessageId: field('MessageId'), Message: field('Message'), Token: field('Token') },
    };
  };
}

/** A body that is no message of SNS has no signature. */
function fieldsIn(body: Uint8Array): Record<string, unknown> {
  try {
    const [fields] = objectsIn(body);
    if (isObject(fields)) return fields;
  } catch (error) {
    if (!(error instanceof UnreadableBody)) throw error;
  }
  throw new WrongSignature();
}

/** The last field ends in a newline, too. */
function canonical(fields: Record<string, unknown>, names: readonly string[]): string {
  return names
    .flatMap((name) => {
      const value = stringIn(fields, name);
      return value === undefined ? [] : [`${name}\n${value}\n`];
    })
    .join('');
}

const stringIn = (fields: Record<string, unknown>, name: string): string | undefined => {
  const value = fields[name];
  return typeof value === 'string' ? value : undefined;
};

const regionPattern = /^[a-z]{2}(?:-[a-z]+)+-\d{1,2}$/;

function isPinned(url: string, { provider }: ReportAccount): boolean {
  const region = provider.ses?.region ?? '';
  const start = `https://${awsHost('sns', region)}/SimpleNotificationService-`;
  return (
    regionPattern.test(region) &&
    url.startsWith(start) &&
    /^[A-Za-z0-9]{1,100}\.pem$/.test(url.slice(start.length))
  );
}

/** The topic in the settings, or the one that was made when the integration was registered. */
export function topicIn({ provider, learned }: ReportAccount): string | undefined {
  return provider.ses?.topicArn || learned.topic_arn;
}

async function fetchCertificate(url: string, account: ReportAccount): Promise<X509Certificate> {
  const { status, body } = await account.call({ method: 'GET', url, headers: {} });
  // A redirect would be to another host.
  if (status === 404) throw new WrongSignature();
  if (status !== 200) throw new Error(`the certificate of SNS was answered with ${status}`);
  return new X509Certificate(body);
}

/** Confirms by the token alone: a URL in the message is of its sender's choice. */
export async function confirmSubscription(
  { TopicArn, Token }: SnsMessage,
  account: ReportAccount,
): Promise<void> {
  const query = new URLSearchParams({ Action: 'ConfirmSubscription', TopicArn, Token });
  const url = `https://${awsHost('sns', account.provider.ses?.region ?? '')}/?${query}`;
  const { status } = await account.call({ method: 'GET', url, headers: {} });
  // Refused for a token that is used or too old, which does not change when SNS repeats it.
  if (status >= 500) throw new Error(`the confirmation was answered with ${status}`);
}
