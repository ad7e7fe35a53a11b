import { serviceNames } from '../../deploy/postrider/parts.ts';
import { ask, provisionByProgram, serviceUrls, startServer, urlVariables } from './databases.ts';
import type { Rig } from './rig.ts';
import { kills, sendThrough, startStackOn } from './sending.ts';

const killEveryMs = 2_500;

/** One of two of each. */
export const oneOfTwo = [
  ...serviceNames.map((name) => `${name}-2`),
  ...['broadcasts', 'contacts', 'webhooks'].map((name) => `${name}-worker-2`),
  'gateway-2',
];

/** One database for each service, and two of every process. */
export async function split(rig: Rig): Promise<void> {
  const server = await startServer(rig);
  const urls = serviceUrls(server.url('postrider'), (name) => `mail_${name}`);
  await rig.check('migrate --provision makes a database for each service', () =>
    provisionByProgram(server.url('postrider'), urls),
  );
  await rig.check('a service cannot connect to the database of another', async () => {
    const url = new URL(urls.contacts);
    url.pathname = '/mail_messages';
    const refused = await ask(url.href, 'select 1').catch((error: Error) => error.message);
    if (typeof refused !== 'string') throw new Error('contacts can connect to mail_messages');
    return refused;
  });
  const stack = await startStackOn(rig, {
    replicas: 2,
    environment: { ...urlVariables(urls), REPLICAS: '2' },
    messagesUrl: server.url('mail_messages'),
  });
  await rig.check('two of every process run', async () => twins(stack.processes.names()));
  await rig.check('nobody is lost when one of two of every process is killed', () =>
    sendThrough(rig, stack, { recipients: 3_000, schedule: kills(oneOfTwo, killEveryMs) }),
  );
}

export function twins(names: readonly string[]): string {
  const missing = oneOfTwo.filter((name) => !names.includes(name));
  if (missing.length > 0) throw new Error(`${missing.join(', ')} do not run`);
  return `${2 * oneOfTwo.length} processes`;
}
