import { httpTransport, required } from '../http/provider.ts';
import type { MailProvider } from '../provider.ts';
import { mailjetApi } from './api.ts';
import { mailjetRegistrar } from './register.ts';
import { mailjetReports } from './reports.ts';

/** An account of Mailjet. */
export const mailjet = (origin = 'https://api.mailjet.com'): MailProvider => ({
  kind: 'mailjet',
  reports: mailjetReports,
  registrar: mailjetRegistrar,
  transport({ mailjet: given }) {
    const settings = required(given, 'settings of Mailjet');
    required(settings.apiKey, 'API key of Mailjet');
    required(settings.secretKey, 'secret key of Mailjet');
    return httpTransport('mailjet', settings, mailjetApi(settings, origin));
  },
});
