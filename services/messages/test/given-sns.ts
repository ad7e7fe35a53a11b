import { execFileSync } from 'node:child_process';
import { sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A key of SNS with its certificate, which openssl makes. */
export function givenCertificate(): { pem: string; privateKey: string } {
  const folder = mkdtempSync(join(tmpdir(), 'postrider-sns-'));
  try {
    const made = ['-keyout', 'key.pem', '-out', 'certificate.pem', '-days', '2', '-nodes'];
    const subject = ['-subj', '/CN=sns.amazonaws.com'];
    const args = ['req', '-x509', '-newkey', 'rsa:2048', ...subject, ...made];
    execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
    const read = (name: string) => readFileSync(join(folder, name), 'utf8');
    return { pem: read('certificate.pem'), privateKey: read('key.pem') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Signs a message as SNS does, by version 1 or 2. */
export function signSns(
  fields: Readonly<Record<string, string>>,
  privateKey: string,
): Record<string, string> {
  const isNotification = fields.Type === 'Notification';
  const names = isNotification
    ? ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
    : ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'];
  const text = names
    .filter((name) => fields[name] !== undefined)
    .map((name) => `${name}\n${fields[name]}\n`)
    .join('');
  const digest = fields.SignatureVersion === '2' ? 'RSA-SHA256' : 'RSA-SHA1';
  return { ...fields, Signature: sign(digest, Buffer.from(text), privateKey).toString('base64') };
}

export const snsRegion = 'us-east-1';
export const snsTopic = 'arn:aws:sns:us-east-1:123456789012:postrider-1';

/** A notification of an event of SES; `file` names the certificate. */
export function notificationOf(event: unknown, file: string): Record<string, string> {
  return {
    ...{ Type: 'Notification', MessageId: crypto.randomUUID(), TopicArn: snsTopic },
    ...{ Subject: 'Amazon SES Email Event Notification', Message: JSON.stringify(event) },
    ...{ Timestamp: '2026-11-25T17:58:59.675Z', SignatureVersion: '2' },
    SigningCertURL: `https://sns.us-east-1.amazonaws.com/SimpleNotificationService-${file}.pem`,
    UnsubscribeURL: 'https://sns.us-east-1.amazonaws.com/?Action=Unsubscribe&SubscriptionArn=a',
  };
}
