import { httpTransport, required } from '../http/provider.ts';
import type { MailProvider } from '../provider.ts';
import { sesApi } from './api.ts';

/** An account of Amazon SES in a region. */
export const ses = (origin?: string): MailProvider => ({
  kind: 'ses',
  transport({ ses: given }) {
    const settings = required(given, 'settings of SES');
    required(settings.secretKey, 'secret key of SES');
    const host = `email.${settings.region}.amazonaws.com`;
    const api = sesApi(settings, { origin: origin ?? `https://${host}`, host });
    return httpTransport('ses', settings, api);
  },
});
