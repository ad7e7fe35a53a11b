import { httpTransport, required } from '../http/provider.ts';
import type { MailProvider } from '../provider.ts';
import { resendApi } from './api.ts';
import { resendRegistrar } from './register.ts';
import { resendReports } from './reports.ts';

/** A team of Resend. */
export const resend = (origin = 'https://api.resend.com'): MailProvider => ({
  kind: 'resend',
  reports: resendReports,
  registrar: resendRegistrar,
  transport({ resend: given }) {
    const settings = required(given, 'settings of Resend');
    required(settings.apiKey, 'API key of Resend');
    return httpTransport('resend', settings, resendApi(settings, origin));
  },
});
