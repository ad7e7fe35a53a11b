/*
 * Takes mails to return paths by SMTP, which are reports of mail servers, and mails to addresses of
 * tests (`test-mail.ts`). Other addresses are refused in answer to RCPT, so that nothing is stored
 * for them and no mail is ever sent back: a mail that is taken first and returned later would go to
 * the address that its sender has made up (backscatter).
 *
 * Order: form of the address, its code (messages knows the key), the mail, and 250 once its reports
 * are stored. A mail that cannot be stored now gets 451, and comes again.
 *
 * Limits: connections in all and of an address, idle time, time of a session, refused recipients of
 * a session, one recipient, bytes that are kept. A mail is read to its end, since the sender of one
 * that is cut off sends it again.
 */

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Code, ConnectError } from '@connectrpc/connect';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { isTestAddress, mayBeReturnPath } from '#lib/keys/return-path.ts';
import type { Log } from '#lib/log.ts';
import { clientNetwork } from '#lib/networks/client-network.ts';
import { answer } from '../smtp/answer.ts';
import type { MailCertificate } from '../smtp/certificate.ts';
import { type TestMailOutcome, type TestMailTaker, testMailMaxBytes } from './test-mail.ts';

/** The part of messages that decides. */
export type ReturnedMailTaker = {
  isKnown(returnPath: string): Promise<boolean>;
  /** False where it is to be refused for good. */
  record(returnPath: string, mail: Buffer): Promise<boolean>;
};

export type ListenerOptions = {
  host: string;
  port: number;
  domain: string;
  certificate: MailCertificate;
  taker: ReturnedMailTaker;
  takeTest: TestMailTaker;
  log: Log;
  limits?: Partial<typeof limitsDefault>;
};

export const limitsDefault = {
  connectionsMax: 100,
  /** Of one client address, or of one IPv6 /64. */
  connectionsOfAddressMax: 10,
  idleMs: 30_000,
  /** A session with whatever mails it has; the sender connects again. */
  sessionMs: 5 * 60_000,
  /** Recipients that a session may name in vain. */
  refusedMax: 10,
};

/** As EHLO says. Reports have a few KiB. */
const sizeBytes = 1_024 * 1_024;
const keptBytes = 64 * 1_024;
const closeMs = 5_000;

export type MailListener = { port: number; stop(): Promise<void> };

export async function listenForReturnedMail(options: ListenerOptions): Promise<MailListener> {
  const { host, port, domain, certificate, taker, takeTest, log } = options;
  const limits = { ...limitsDefault, ...options.limits };
  const byNetwork = new Map<string, number>();
  const counted = new Map<string, string>();
  const refusals = new Map<string, number>();
  const count = (network: string, by: 1 | -1) => {
    const open = (byNetwork.get(network) ?? 0) + by;
    if (open > 0) byNetwork.set(network, open);
    else byNetwork.delete(network);
    return open;
  };
  const deadlines = new Map<string, NodeJS.Timeout>();
  const refused = ({ id }: SMTPServerSession) => {
    const times = (refusals.get(id) ?? 0) + 1;
    refusals.set(id, times);
    return times > limits.refusedMax ? tooMany() : noSuchAddress();
  };
  const server: SMTPServer = new SMTPServer({
    ...certificate,
    name: domain,
    banner: 'reports about mail',
    logger: false,
    disabledCommands: ['AUTH'],
    disableReverseLookup: true,
    size: sizeBytes,
    maxClients: limits.connectionsMax,
    maxRecipients: 1,
    socketTimeout: limits.idleMs,
    closeTimeout: closeMs,
    onConnect(session, done) {
      const end = () => endSession(server, session);
      deadlines.set(session.id, setTimeout(end, limits.sessionMs));
      const network = clientNetwork(session.remoteAddress);
      counted.set(session.id, network);
      if (count(network, 1) > limits.connectionsOfAddressMax) done(tooMany());
      else done();
    },
    onClose({ id }) {
      clearTimeout(deadlines.get(id));
      deadlines.delete(id);
      const network = counted.get(id);
      if (network !== undefined) count(network, -1);
      counted.delete(id);
      refusals.delete(id);
    },
    onRcptTo({ address }, session, done) {
      if (!mayBeReturnPath(address, domain)) return done(refused(session));
      taker.isKnown(address).then(
        (isKnown) => done(isKnown ? null : refused(session)),
        (error: unknown) => done(notNow(error, log)),
      );
    },
    onData(stream, session, done) {
      const address = session.envelope.rcptTo[0]?.address ?? '';
      const taken = isTestAddress(address)
        ? beginningOf(stream, testMailMaxBytes)
            .then((begun) => takeTest({ ...begun, address, ...sessionOf(session) }))
            .then(refusalOfTest)
        : beginningOf(stream, keptBytes)
            .then(({ mail }) => taker.record(address, mail))
            .then((isRecorded) => (isRecorded ? undefined : noSuchAddress()));
      taken.then(
        (refusal) => (refusal ? done(refusal) : done(null, '2.0.0 stored')),
        (error: unknown) => done(notNow(error, log)),
      );
    },
  });
  // A client that breaks off, or speaks no TLS.
  server.on('error', (error) => log.debug({ err: error }, 'a session of returned mail ended'));
  server.listen(port, host);
  await once(server.server, 'listening');
  return {
    port: (server.server.address() as AddressInfo).port,
    stop: () => new Promise((done) => server.close(() => done())),
  };
}

/** STARTTLS takes all listeners off a socket, so that only the library knows that of a session. */
function endSession({ connections }: SMTPServer, session: SMTPServerSession): void {
  for (const connection of connections) {
    if (connection.session === session) connection._socket.destroy();
  }
}

/** The first `maxBytes` of a mail, and the number of bytes that it has. */
async function beginningOf(
  stream: SMTPServerDataStream,
  maxBytes: number,
): Promise<{ mail: Buffer; bytes: number }> {
  const kept: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (bytes < maxBytes) kept.push(chunk.subarray(0, maxBytes - bytes));
    bytes += chunk.length;
  }
  return { mail: Buffer.concat(kept), bytes };
}

const sessionOf = ({ remoteAddress, hostNameAppearsAs, secure, envelope }: SMTPServerSession) => ({
  ...{ ip: remoteAddress, helo: hostNameAppearsAs, isEncrypted: secure },
  sender: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
});

function refusalOfTest(outcome: TestMailOutcome): Error | undefined {
  if (outcome === 'too large') return answer(552, '5.3.4 the mail is too large to be tested');
  return outcome === 'refused' ? answer(550, '5.7.1 not the mail that was sent') : undefined;
}

const noSuchAddress = () => answer(550, '5.1.1 no such address');
const tooMany = () => answer(421, '4.7.0 too many connections or wrong addresses, try again later');

/** The sender keeps the mail, and comes again. */
function notNow(error: unknown, log: Log): Error {
  if (ConnectError.from(error).code !== Code.ResourceExhausted) {
    log.error({ err: error }, 'a returned mail could not be stored');
  }
  return answer(451, '4.3.0 the mail cannot be taken now');
}
