import { httpTransport, required } from '../http/provider.ts';
import type { MailProvider } from '../provider.ts';
import { sparkpostApi } from './api.ts';
import { sparkpostRegistrar } from './register.ts';
import { sparkpostReports } from './reports.ts';

/** An account of SparkPost. */
export const sparkpost = (origin?: string): MailProvider => ({
  kind: 'sparkpost',
  reports: sparkpostReports,
  registrar: sparkpostRegistrar,
  transport({ sparkpost: given }) {
    const settings = required(given, 'settings of SparkPost');
    required(settings.apiKey, 'API key of SparkPost');
    const own = settings.endpoint || 'https://api.sparkpost.com';
    return httpTransport('sparkpost', settings, sparkpostApi(settings, origin ?? own));
  },
});
