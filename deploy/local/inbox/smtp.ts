import { once } from 'node:events';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { shortHeaders } from './headers.ts';
import type { Mail } from './mail.ts';
import type { InboxMailbox } from './mailbox.ts';
import { sendBack } from './returns.ts';

const mailBytesMax = 10 * 1024 * 1024;
const clientsMax = 200;
const idleMsMax = 60_000;
const recipientsMax = 1_000;

/** Accepts every mail, with or without a login. */
export async function startSmtp(
  box: InboxMailbox,
  { host, port, returnsPort }: { host: string; port: number; returnsPort?: number | undefined },
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
      const arrived = arrivedBy(session);
      receive(box, stream, arrived).then(() => {
        done(null, 'Kept');
        if (returnsPort) sendBack(arrived, returnsPort).catch(warn);
      }, done);
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

const warn = (error: unknown) => process.stderr.write(`a mail could not be sent back: ${error}\n`);

/** Of the session, which forgets it with the answer. */
const arrivedBy = ({ envelope }: SMTPServerSession) => ({
  from: envelope.mailFrom ? envelope.mailFrom.address : '',
  to: envelope.rcptTo.map(({ address }) => address),
});

async function receive(
  box: InboxMailbox,
  stream: SMTPServerDataStream,
  arrived: Pick<Mail, 'from' | 'to'>,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) {
    if (!stream.sizeExceeded) chunks.push(chunk);
  }
  if (stream.sizeExceeded) throw refusal(552, 'Mail is larger than 10 MB');
  const raw = Buffer.concat(chunks);
  await box.add({
    ...shortHeaders(raw),
    ...arrived,
    receivedAt: new Date().toISOString(),
    raw,
  });
}

function refusal(responseCode: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode });
}
