import { create } from '@bufbuild/protobuf';
import { SmtpSettingsSchema } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { invalidField } from '../errors/errors.ts';
import { kindOfProvider } from './kind.ts';

const textMax = 1_000;

/** Any server that takes mail by SMTP. */
export const smtp = kindOfProvider({
  kind: 'smtp',
  schema: SmtpSettingsSchema,
  missing: 'SMTP settings required when email provider kind is smtp',
  secrets: ['password'],
  account: ['host', 'port', 'username'],
  check(given, path) {
    const settings = create(SmtpSettingsSchema, { ...given, host: given.host.trim() });
    const { host, port, ehloHostname } = settings;
    if (host === '') {
      throw invalidField(`${path}.host`, 'host is required for SMTP configuration');
    }
    if (!/^[A-Za-z0-9.:_[\]-]{1,253}$/.test(host)) {
      throw invalidField(`${path}.host`, 'invalid host for SMTP configuration');
    }
    if (port < 1 || port > 65_535) {
      throw invalidField(`${path}.port`, `invalid port number for SMTP configuration: ${port}`);
    }
    if (!/^[A-Za-z0-9.:[\]-]{0,253}$/.test(ehloHostname)) {
      throw invalidField(
        `${path}.ehlo_hostname`,
        'invalid EHLO host name: at most 253 letters, digits, dots, colons, hyphens and square brackets',
      );
    }
    for (const name of ['username', 'password'] as const) {
      if (settings[name].length > textMax) {
        throw invalidField(
          `${path}.${name}`,
          `${name} of the SMTP configuration has more than 1,000 characters`,
        );
      }
    }
    return settings;
  },
  host: ({ host }) => ({ field: 'host', host }),
});
