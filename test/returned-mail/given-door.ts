import { createRouterTransport } from '@connectrpc/connect';
import { pino } from 'pino';
import { openOutbox } from '#lib/events/outbox.ts';
import { createReturnPaths } from '#lib/keys/return-path.ts';
import { listenForReturnedMail } from '../../gateway/returned-mail/listener.ts';
import { takeTestMails } from '../../gateway/returned-mail/test-mail.ts';
import type { SpamdAddress } from '../../gateway/returned-mail/verification/spamd.ts';
import { startVerifier } from '../../gateway/returned-mail/verification/verifier.ts';
import { selfSigned } from '../../gateway/smtp/certificate.ts';
import type { Given } from '../../services/messages/test/given.ts';
import { keyring } from '../setup/service.ts';

export const domain = 'bounces.example.com';
export const returnPaths = createReturnPaths(keyring, domain);

const anywhere = createRouterTransport(() => {});

type Options = { dnsServers?: readonly string[]; spamd?: SpamdAddress | undefined };

/** A process of messages whose mails have return paths, and the listener that takes what comes. */
export async function givenDoor(
  given: Pick<Given, 'newProcess'>,
  { dnsServers = [], spamd }: Options = {},
) {
  const outbox = openOutbox('messages', { contacts: anywhere, webhooks: anywhere });
  const process = given.newProcess({ outbox, returnPaths });
  const { inbound, testMails: messages } = process;
  const verifier = startVerifier();
  /** All that have come, as they came. */
  const mails: Buffer[] = [];
  /** Lines of the log. */
  const errors: string[] = [];
  const log = pino({ level: 'error' }, { write: (line) => void errors.push(line) });
  const listener = await listenForReturnedMail({
    ...{ host: '127.0.0.1', port: 0, domain, log },
    certificate: selfSigned(domain),
    taker: {
      isKnown: async (returnPath) => (await inbound.checkReturnPath({ returnPath })).isKnown,
      async record(returnPath, mail) {
        mails.push(mail);
        return (await inbound.recordReturnedMail({ returnPath, mail })).isRecorded;
      },
    },
    takeTest: takeTestMails({
      ...{ messages, verifier, spamd, host: domain, dnsServers, timeoutMs: 20_000 },
    }),
  });
  const stop = async () => {
    await listener.stop();
    await verifier.close();
  };
  return { process, mails, errors, port: listener.port, stop };
}
