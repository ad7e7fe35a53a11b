import { Code, ConnectError } from '@connectrpc/connect';
import type { MailProvider } from '../provider.ts';
import type { ServerSettings } from './dial.ts';
import { SmtpPool } from './pool.ts';
import { smtpReports } from './reports.ts';

/** Any server that takes mail by SMTP. */
export const smtp: MailProvider = {
  kind: 'smtp',
  reports: smtpReports,
  transport({ smtp: given }) {
    if (!given) throw new ConnectError('the integration has no SMTP server', Code.InvalidArgument);
    const { host, port, username, password, useTls, ehloHostname } = given;
    const settings: ServerSettings = { host, port, username, password, useTls, ehloHostname };
    return {
      kind: 'smtp',
      key: JSON.stringify(settings),
      takesReturnPath: true,
      ...(given.direct && { isDirect: true }),
      keepsMails: true,
      takesMime: {},
      open: (sender) => new SmtpPool({ ...sender, settings }),
    };
  },
};
