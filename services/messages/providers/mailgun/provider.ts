import { httpTransport, required } from '../http/provider.ts';
import type { MailProvider } from '../provider.ts';
import { mailgunApi } from './api.ts';
import { mailgunRegistrar } from './register.ts';
import { mailgunReports } from './reports.ts';

/** documentation.mailgun.com/docs/mailgun/api-reference: hosts of the two regions. */
const origins = { US: 'https://api.mailgun.net', EU: 'https://api.eu.mailgun.net' };

/** A domain of Mailgun. */
export const mailgun = (origin?: string): MailProvider => ({
  kind: 'mailgun',
  reports: mailgunReports,
  registrar: mailgunRegistrar,
  transport({ mailgun: given }) {
    const settings = required(given, 'settings of Mailgun');
    required(settings.apiKey, 'API key of Mailgun');
    const own = origins[settings.region === 'EU' ? 'EU' : 'US'];
    return httpTransport('mailgun', settings, mailgunApi(settings, origin ?? own));
  },
});
