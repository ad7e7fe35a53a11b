import { httpTransport, required } from '../http/provider.ts';
import type { MailProvider } from '../provider.ts';
import { brevoApi } from './api.ts';
import { brevoRegistrar } from './register.ts';
import { brevoReports } from './reports.ts';

/** An account of Brevo. */
export const brevo = (origin = 'https://api.brevo.com'): MailProvider => ({
  kind: 'brevo',
  reports: brevoReports,
  registrar: brevoRegistrar,
  transport({ brevo: given }) {
    const settings = required(given, 'settings of Brevo');
    required(settings.apiKey, 'API key of Brevo');
    return httpTransport('brevo', settings, brevoApi(settings, origin));
  },
});
