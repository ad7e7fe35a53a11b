import type { Variables } from '#lib/env.ts';

/**
 * The authority that a client trusts, and the client's own certificate for servers that ask for
 * one.
 */
export type ClientTls = { ca: Buffer; cert?: Buffer; key?: Buffer };

/** A server's certificate; with `ca`, its clients must have certificates of that authority. */
export type ServerTls = { cert: Buffer; key: Buffer; ca?: Buffer };

/** The texts of a server's three variables, for operators. */
type ServerTexts = { cert: string; key: string; clientCa: string };

const textsOfService: ServerTexts = {
  cert: 'The certificate of a service, also shown to services that ask for one; without it, services are called in plain text.',
  key: 'The key of that certificate.',
  clientCa: 'Callers must have a certificate of this authority.',
};

/**
 * `TLS_CERT_FILE` and `TLS_KEY_FILE` make a server speak TLS; `TLS_CLIENT_CA_FILE` makes it ask for
 * certificates. A prefix distinguishes one server's variables from those of the process.
 */
export function readServerTls(
  variables: Variables,
  prefix: '' | 'GATEWAY_' = '',
  texts = textsOfService,
): ServerTls | undefined {
  const names = { cert: `${prefix}TLS_CERT_FILE`, key: `${prefix}TLS_KEY_FILE` };
  const caName = `${prefix}TLS_CLIENT_CA_FILE`;
  const cert = variables.file(names.cert, { about: texts.cert });
  const key = variables.file(names.key, { about: texts.key });
  const ca = variables.file(caName, { about: texts.clientCa });
  return variables.derived(() => {
    if (Boolean(cert) !== Boolean(key))
      throw new Error(`${names.cert} and ${names.key} go together`);
    if (cert && key) return { cert, key, ca };
    if (ca) throw new Error(`${caName} needs ${names.cert} and ${names.key}`);
    return undefined;
  });
}

/**
 * `TLS_CA_FILE` makes clients speak TLS to our services; they present the process's own certificate
 * if it has one.
 */
export function readClientTls(variables: Variables): ClientTls | undefined {
  const ca = variables.file('TLS_CA_FILE', {
    about: 'The authority of services\u2019 certificates; calls to services then use TLS.',
  });
  const cert = variables.file('TLS_CERT_FILE', { about: textsOfService.cert });
  const key = variables.file('TLS_KEY_FILE', { about: textsOfService.key });
  return ca && { ca, cert, key };
}
