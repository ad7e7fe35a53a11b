import { hostname } from 'node:os';
import type { Variables } from '#lib/env.ts';
import { readServiceKeys } from '#lib/keys/config.ts';
import type { Keyset } from '#lib/keys/keyset.ts';
import { type RequestRates, readRequestRates } from '#lib/limits/request-limits.ts';
import { type ProcessConfig, readAddresses, readProcess } from '#lib/process/config.ts';
import { type ClientTls, readClientTls } from '#lib/rpc/tls.ts';
import { isWithin } from '../http/client-address.ts';
import type { CertificateFiles } from './certificate-files.ts';

export type RelayConfig = ProcessConfig & {
  keyset: Keyset;
  addresses: ReadonlyMap<string, readonly string[]>;
  clientTls: ClientTls | undefined;
  requestRates: RequestRates;
  /** Ports; zero for none. */
  ports: { smtp: number; smtps: number };
  /** Its name in greetings. */
  hostname: string;
  /** Absent where it makes a certificate of its own. */
  certificate: CertificateFiles | undefined;
  allowsPlaintext: boolean;
  /** Ranges in CIDR notation whose connections begin with a header of the PROXY protocol. */
  proxies: readonly string[];
};

export function readConfig(variables: Variables): RelayConfig {
  return {
    ...readProcess(variables),
    keyset: readServiceKeys(variables, 'gateway'),
    addresses: readAddresses(variables, ['messages', 'workspaces']),
    clientTls: readClientTls(variables),
    requestRates: readRequestRates(variables),
    ports: readPorts(variables),
    hostname: readHostname(variables),
    certificate: readCertificate(variables),
    allowsPlaintext: variables.flag('RELAY_ALLOW_PLAINTEXT', {
      about:
        '`true` lets clients of `RELAY_SMTP_PORT` give their API key without TLS: in a network that nobody else reads.',
    }),
    proxies: readProxies(variables),
  };
}

function readPorts(variables: Variables): RelayConfig['ports'] {
  const range = { fallback: 0, from: 0, to: 65_535 };
  return {
    smtp: variables.integer('RELAY_SMTP_PORT', {
      ...range,
      about:
        'The port of `relay` for mails by SMTP with STARTTLS, which clients know as 587; `0` for none.',
    }),
    smtps: variables.integer('RELAY_SMTPS_PORT', {
      ...range,
      about: 'The same with TLS from the start, which clients know as 465; `0` for none.',
    }),
  };
}

function readProxies(variables: Variables): string[] {
  const name = 'RELAY_PROXIES';
  const ranges = variables.list(name, {
    unset: 'none',
    about:
      'Addresses of load balancers, or ranges of them in CIDR notation, separated by commas, that send the header of the PROXY protocol (version 1 or 2) before all else. Clients of others have none.',
  });
  const checked = variables.derived(() => {
    try {
      isWithin(ranges);
    } catch {
      throw new Error(`${name} must be addresses, or ranges in CIDR notation`);
    }
    return ranges;
  });
  return checked ?? [];
}

function readHostname(variables: Variables): string {
  const name = variables.text('RELAY_HOSTNAME', {
    fallback: '',
    unset: 'the name of the machine',
    about: 'The name of `relay` in greetings and in the `Received` field of mails.',
  });
  const checked = variables.derived(() => {
    if (name !== '' && !/^[a-z0-9][a-z0-9.-]{0,252}$/i.test(name)) {
      throw new Error('RELAY_HOSTNAME must be the name of a host');
    }
    return name || hostname();
  });
  return checked ?? '';
}

function readCertificate(variables: Variables): CertificateFiles | undefined {
  const names = { cert: 'RELAY_TLS_CERT_FILE', key: 'RELAY_TLS_KEY_FILE' };
  const cert = variables.text(names.cert, {
    fallback: '',
    unset: 'a certificate that `relay` makes at its start, which clients that verify refuse',
    about:
      'The certificate that clients of `relay` see, with those between it and its authority. It is read again when the file changes.',
  });
  const key = variables.text(names.key, {
    fallback: '',
    unset: 'none',
    about: 'The key of that certificate.',
  });
  return variables.derived(() => {
    if ((cert === '') !== (key === ''))
      throw new Error(`${names.cert} and ${names.key} go together`);
    return cert === '' ? undefined : { cert, key };
  });
}
