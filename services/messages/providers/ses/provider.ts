import { httpTransport, required } from '../http/provider.ts';
import type { MailProvider } from '../provider.ts';
import { sesApi } from './api.ts';
import { awsHost } from './host.ts';
import { sesRegistrar } from './register.ts';
import { sesReports } from './reports.ts';

/** An account of Amazon SES in a region. */
export const ses = (origin?: string): MailProvider => ({
  kind: 'ses',
  reports: sesReports,
  registrar: sesRegistrar,
  transport({ ses: given }) {
    const settings = required(given, 'settings of SES');
    required(settings.secretKey, 'secret key of SES');
    const host = awsHost('email', settings.region);
    const api = sesApi(settings, { origin: origin ?? `https://${host}`, host });
    return httpTransport('ses', settings, api);
  },
});
