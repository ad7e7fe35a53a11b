import type { Variables } from '#lib/env.ts';
import { readBounceDomain, readServiceKeys } from '#lib/keys/config.ts';
import type { Keyset } from '#lib/keys/keyset.ts';
import { readDnsServers } from '#lib/outside/config.ts';
import { type ProcessConfig, readAddresses, readProcess } from '#lib/process/config.ts';
import { type ClientTls, readClientTls } from '#lib/rpc/tls.ts';
import type { MailCertificate } from '../smtp/certificate.ts';
import type { SpamdAddress } from './verification/spamd.ts';

export type ReturnedMailConfig = ProcessConfig & {
  keyset: Keyset;
  addresses: ReadonlyMap<string, readonly string[]>;
  clientTls: ClientTls | undefined;
  /** Absent where no mail is taken. */
  smtp: { port: number; domain: string } | undefined;
  /** For STARTTLS. */
  certificate: MailCertificate | undefined;
  dnsServers: readonly string[];
  /** Absent where test mails get no score. */
  spamd: SpamdAddress | undefined;
};

export function readConfig(variables: Variables): ReturnedMailConfig {
  const domain = readBounceDomain(variables);
  const port = readSmtpPort(variables);
  variables.derived(() => {
    if (port > 0 && domain === '') throw new Error('BOUNCE_SMTP_PORT needs BOUNCE_DOMAIN');
  });
  return {
    ...readProcess(variables),
    keyset: readServiceKeys(variables, 'gateway'),
    addresses: readAddresses(variables, ['messages']),
    clientTls: readClientTls(variables),
    smtp: port > 0 ? { port, domain } : undefined,
    certificate: readCertificate(variables),
    dnsServers: readDnsServers(variables),
    spamd: readSpamd(variables),
  };
}

function readSmtpPort(variables: Variables): number {
  return variables.integer('BOUNCE_SMTP_PORT', {
    fallback: 0,
    from: 0,
    to: 65_535,
    about:
      'The port of `inbound` for mails to return paths; `0` for none. Mail servers reach it as port 25 of the host that the MX record names.',
  });
}

function readSpamd(variables: Variables): SpamdAddress | undefined {
  const address = variables.text('SPAMD_ADDRESS', {
    fallback: '',
    unset: 'no score',
    about:
      'The spamd of SpamAssassin, `host:port`, from which `inbound` has the score of test mails of domains (`domains.testMail`).',
  });
  return variables.derived(() => {
    if (address === '') return undefined;
    const [, host = '', port = ''] = /^(\[[0-9a-f:.]+\]|[^\s:/]+):(\d{1,5})$/i.exec(address) ?? [];
    const number = Number(port);
    if (number < 1 || number > 65_535) throw new Error('SPAMD_ADDRESS must be host:port');
    return { host: host.replace(/^\[|\]$/g, ''), port: number };
  });
}

function readCertificate(variables: Variables): MailCertificate | undefined {
  const names = { cert: 'BOUNCE_TLS_CERT_FILE', key: 'BOUNCE_TLS_KEY_FILE' };
  const cert = variables.file(names.cert, {
    about:
      'The certificate that mail servers see after STARTTLS. Without it `inbound` makes one of its own at the start, which mail servers take: they verify none.',
  });
  const key = variables.file(names.key, { about: 'The key of that certificate.' });
  return variables.derived(() => {
    if (Boolean(cert) !== Boolean(key)) {
      throw new Error(`${names.cert} and ${names.key} go together`);
    }
    return cert && key ? { cert, key } : undefined;
  });
}
