import { isIP } from 'node:net';
import { buildConnector } from 'undici';
import { passOverInterimResponses } from './interim-responses.ts';
import type { OutsideAddress } from './names/target.ts';

/**
 * Opens connections of HTTP/1.1 to hosts that `resolve` allows; with TLS the certificate must be
 * valid for the host's name.
 */
export function connectorTo(
  resolve: (host: string) => Promise<OutsideAddress>,
): buildConnector.connector {
  const connect = buildConnector({
    allowH2: false,
    lookup(host, { all }, done) {
      resolve(host).then(
        ({ address, family }) =>
          all ? done(null, [{ address, family }]) : done(null, address, family),
        (error: NodeJS.ErrnoException) => done(error, '', 4),
      );
    },
  });
  return (target, done) => {
    const open = () =>
      connect(target, (...[error, socket]) =>
        error ? done(error, null) : done(null, passOverInterimResponses(socket)),
      );
    // A literal address is never looked up.
    if (isIP(unbracketed(target.hostname)) === 0) return open();
    resolve(target.hostname).then(open, (error) => done(error, null));
  };
}

/** A literal IPv6 address has brackets in a URL. */
export function unbracketed(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}
