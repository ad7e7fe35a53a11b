import { pino } from 'pino';
import { listenForRelay } from '../../gateway/relay/listener.ts';
import { selfSigned } from '../../gateway/smtp/certificate.ts';

/*
 * The relay in a process of its own, with few connections and short times. Its parent gets the
 * ports; the messages `reload` and `stop` have it change its certificate and stop.
 */

const listener = await listenForRelay({
  ...{ host: '127.0.0.1', ports: { smtp: 0, smtps: 0 }, hostname: 'relay.example' },
  ...{ certificate: selfSigned('relay.example'), allowsPlaintext: true },
  proxies: process.argv.slice(2),
  log: pino({ level: 'silent' }),
  limits: { connectionsOfAddressMax: 3, arrivalMs: 1_000, greetingMs: 1_000 },
  taker: {
    callerOf: async (key) => ({ key, subject: 'k1', workspaceId: 'w1' }),
    relay: async (_, { recipients }) => recipients.map(() => 'id'),
  },
});

process.on('message', async (order) => {
  if (order === 'reload') listener.useCertificate(selfSigned('relay.example'));
  if (order !== 'stop') return;
  await listener.stop();
  process.disconnect();
});
process.send?.(listener.ports);
