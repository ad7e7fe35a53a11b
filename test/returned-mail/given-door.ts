import { createRouterTransport } from '@connectrpc/connect';
import { openOutbox } from '#lib/events/outbox.ts';
import { createReturnPaths } from '#lib/keys/return-path.ts';
import { createLog } from '#lib/log.ts';
import { selfSigned } from '../../gateway/returned-mail/certificate.ts';
import { listenForReturnedMail } from '../../gateway/returned-mail/listener.ts';
import type { Given } from '../../services/messages/test/given.ts';
import { keyring } from '../setup/service.ts';

export const domain = 'bounces.example.com';
export const returnPaths = createReturnPaths(keyring, domain);

const anywhere = createRouterTransport(() => {});

/** A process of messages whose mails have return paths, and the listener that takes what comes. */
export async function givenDoor(given: Pick<Given, 'newProcess'>) {
  const outbox = openOutbox('messages', { contacts: anywhere, webhooks: anywhere });
  const process = given.newProcess({ outbox, returnPaths });
  const { inbound } = process;
  /** All that have come, as they came. */
  const mails: Buffer[] = [];
  const listener = await listenForReturnedMail({
    ...{ host: '127.0.0.1', port: 0, domain, log: createLog('inbound', 'silent') },
    certificate: selfSigned(domain),
    taker: {
      isKnown: async (returnPath) => (await inbound.checkReturnPath({ returnPath })).isKnown,
      async record(returnPath, mail) {
        mails.push(mail);
        return (await inbound.recordReturnedMail({ returnPath, mail })).isRecorded;
      },
    },
  });
  return { process, mails, port: listener.port, stop: listener.stop };
}
