import { httpTransport, required } from '../http/provider.ts';
import type { MailProvider } from '../provider.ts';
import { sendgridApi } from './api.ts';
import { sendgridRegistrar } from './register.ts';
import { sendgridReports } from './reports.ts';

/** twilio.com/docs/sendgrid/api-reference: hosts of the two regions. */
const origins = { global: 'https://api.sendgrid.com', eu: 'https://api.eu.sendgrid.com' };

/** An account of SendGrid. */
export const sendgrid = (origin?: string): MailProvider => ({
  kind: 'sendgrid',
  reports: sendgridReports,
  registrar: sendgridRegistrar,
  transport({ sendgrid: given }) {
    const settings = required(given, 'settings of SendGrid');
    required(settings.apiKey, 'API key of SendGrid');
    const own = origins[settings.region === 'eu' ? 'eu' : 'global'];
    return httpTransport('sendgrid', settings, sendgridApi(settings, origin ?? own));
  },
});
