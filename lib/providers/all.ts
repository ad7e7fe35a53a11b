import { brevo } from './brevo.ts';
import type { KindOfProvider } from './kind.ts';
import { mailgun } from './mailgun.ts';
import { mailjet } from './mailjet.ts';
import { postmark } from './postmark.ts';
import { resend } from './resend.ts';
import { sendgrid } from './sendgrid.ts';
import { ses } from './ses.ts';
import { smtp } from './smtp.ts';
import { sparkpost } from './sparkpost.ts';

/** Every kind of provider that an integration may have. */
export const kindsOfProvider: readonly KindOfProvider[] = [
  smtp,
  ses,
  sparkpost,
  postmark,
  mailgun,
  mailjet,
  sendgrid,
  brevo,
  resend,
];

/** The secret that release 0.2 means where it names none. */
export const onlySecretOf02 = 'smtp.password';

/** Undefined for a name that is no kind. */
export function findKind(name: string): KindOfProvider | undefined {
  return kindsOfProvider.find(({ kind }) => kind === name);
}
