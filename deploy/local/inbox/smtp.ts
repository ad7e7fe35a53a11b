import { once } from 'node:events';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { shortHeaders } from './headers.ts';
import type { InboxMailbox } from './mailbox.ts';

const mailBytesMax = 10 * 1024 * 1024;
const clientsMax = 200;
const idleMsMax = 60_000;
const recipientsMax = 1_000;

/** Accepts every mail, with or without a login. */
export async function startSmtp(
  box: InboxMailbox,
  { host, port }: { host: string; port: number },
): Promise<{ stop(): Promise<void> }> {
  const server = new SMTPServer({
    banner: 'Postrider dev inbox',
    authOptional: true,
    allowInsecureAuth: true,
    hideSTARTTLS: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    size: mailBytesMax,
    maxClients: clientsMax,
    socketTimeout: idleMsMax,
    closeTimeout: 1_000,
    onAuth: ({ username }, _session, done) => done(null, { user: username ?? 'anyone' }),
    onRcptTo: (_address, { envelope }, done) =>
      done(envelope.rcptTo.length < recipientsMax ? null : refusal(452, 'Too many recipients')),
    onData: (stream, session, done) => {
      receive(box, stream, session).then(() => done(null, 'Kept'), done);
    },
  });
  server.on('error', () => {
    // A client that breaks its connection must not end the server.
  });
  server.listen(port, host);
  await once(server.server, 'listening');
  return {
    stop: async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      server.close(() => resolve());
      await promise;
    },
  };
}

async function receive(
  box: InboxMailbox,
  stream: SMTPServerDataStream,
  { envelope }: SMTPServerSession,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) {
    if (!stream.sizeExceeded) chunks.push(chunk);
  }
  if (stream.sizeExceeded) throw refusal(552, 'Mail is larger than 10 MB');
  const raw = Buffer.concat(chunks);
  await box.add({
    ...shortHeaders(raw),
    to: envelope.rcptTo.map(({ address }) => address),
    from: envelope.mailFrom ? envelope.mailFrom.address : '',
    receivedAt: new Date().toISOString(),
    raw,
  });
}

function refusal(responseCode: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode });
}
