import { httpTransport, required } from '../http/provider.ts';
import type { MailProvider } from '../provider.ts';
import { postmarkApi } from './api.ts';
import { postmarkRegistrar } from './register.ts';
import { postmarkReports } from './reports.ts';

/** A server of Postmark. */
export const postmark = (origin = 'https://api.postmarkapp.com'): MailProvider => ({
  kind: 'postmark',
  reports: postmarkReports,
  registrar: postmarkRegistrar,
  transport({ postmark: given }) {
    const settings = required(given, 'settings of Postmark');
    required(settings.serverToken, 'server token of Postmark');
    const streams = {
      messageStream: settings.messageStream || 'outbound',
      broadcastStream: settings.broadcastStream || 'broadcast',
    };
    const all = { ...settings, ...streams };
    return httpTransport('postmark', all, postmarkApi(all, origin));
  },
});
