import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { provision } from '../postrider/provision.ts';
import { writeEnvFile } from './env-file.ts';
import { prepareWorkspace } from './first-workspace.ts';
import { recordProcesses, releaseLock, takeLock } from './lock.ts';
import { errorText, openLogFile } from './log-file.ts';
import { gatewayUrl, inboxPart, postgresPart, productParts, smtpUrl } from './parts.ts';
import { keepSecrets, loadSecrets, type Secrets } from './secrets.ts';
import { checkPorts, type StackConfig } from './stack-config.ts';
import { createSupervisor, type Supervisor } from './supervisor.ts';
import { prepareTemporal, temporalPart } from './temporal.ts';
import { temporalProgram } from './temporal-programs.ts';

export type Stack = {
  /** Starts everything; resolves with the API key once it can be used. */
  start(): Promise<string>;
  /** Stops everything in order, also in the middle of a start. */
  stop(): Promise<void>;
};
type Say = (line: string) => void;

const errorsShownEveryMs = 1_000;

/** The stack of `npm start`, on the loopback address, with its data in one folder. */
export function createStack(config: StackConfig, say: Say): Stack {
  const { folder } = config;
  const logs = join(folder, 'logs');
  const supervisor = createSupervisor({
    logFor: (name) => teeLog(name, join(logs, `${name}.log`), say),
    changed: (pids) => recordProcesses(folder, pids),
    say,
  });
  const stopOrder: string[][] = [];
  let locked = false;
  return {
    async start() {
      // As root, PostgreSQL runs as another account, which needs access to the folder.
      mkdirSync(folder, { recursive: true, mode: 0o711 });
      mkdirSync(logs, { recursive: true, mode: 0o700 });
      await takeLock(folder);
      locked = true;
      await checkPorts(config);
      return startAll({ config, supervisor, stopOrder, say });
    },
    async stop() {
      supervisor.close();
      for (const names of stopOrder.splice(0).reverse()) await supervisor.stop(names);
      if (locked) releaseLock(folder);
    },
  };
}

type Start = { config: StackConfig; supervisor: Supervisor; stopOrder: string[][]; say: Say };

async function startAll(start: Start): Promise<string> {
  const { config, say } = start;
  const secrets = loadSecrets(config.folder, config.secretKey);
  const { secretKey } = secrets;
  start.stopOrder.push(['postgres', 'temporal'], ['inbox']);
  const temporal = timed(say, 'Temporal', () => startTemporal(start));
  // Awaited later, which is when a failure is reported.
  temporal.catch(() => {});
  const [databaseUrls] = await Promise.all([
    timed(say, 'PostgreSQL', () => startDatabase(start, secrets)),
    timed(say, 'Inbox', () => start.supervisor.start(inboxPart(config))),
  ]);
  const { services, workers, doors } = productParts(config, secrets, databaseUrls);
  start.stopOrder.push(
    services.map(({ name }) => name),
    workers.map(({ name }) => name),
    doors.map(({ name }) => name),
  );
  await Promise.all([
    timed(say, 'Services', () => Promise.all(services.map(start.supervisor.start))),
    timed(say, 'Gateway', () => Promise.all(doors.map(start.supervisor.start))),
    temporal.then(() =>
      timed(say, 'Workers', () => Promise.all(workers.map(start.supervisor.start))),
    ),
  ]);
  const token = await timed(say, 'Workspace', () =>
    prepareWorkspace({
      baseUrl: gatewayUrl(config),
      rootEmail: config.rootEmail,
      secretKey,
      smtpUrl: smtpUrl(config),
      apiKey: secrets.apiKey,
    }),
  );
  keepSecrets(config.folder, { ...secrets, apiKey: token });
  writeEnvFile(config, { token, secretKey });
  return token;
}

async function startDatabase(
  { config, supervisor }: Start,
  secrets: Secrets,
): Promise<Record<string, string>> {
  const { own, ports } = config;
  if (own.databaseUrls) return own.databaseUrls;
  if (own.databaseUrl) return provision(own.databaseUrl, secrets.rolePasswords);
  await supervisor.start(postgresPart(config, secrets.postgresPassword));
  const url = `postgresql://postrider:${secrets.postgresPassword}@127.0.0.1:${ports.postgres}/postgres`;
  return provision(url, secrets.rolePasswords);
}

async function startTemporal({ config, supervisor, say }: Start): Promise<void> {
  const { own, ports, folder } = config;
  if (own.temporalAddress) return prepareTemporal(own.temporalAddress);
  const part = temporalPart({
    program: await temporalProgram(say),
    folder: join(folder, 'temporal'),
    port: ports.temporal,
    uiPort: ports.temporalUi,
  });
  await supervisor.start(part);
}

async function timed<T>(say: Say, name: string, work: () => Promise<T>): Promise<T> {
  const before = performance.now();
  const result = await work();
  say(`${name.padEnd(11)} ready after ${((performance.now() - before) / 1_000).toFixed(1)} s`);
  return result;
}

/** Everything goes to the file; errors go to the terminal as well, one a second at most. */
function teeLog(name: string, file: string, say: Say): (text: string) => void {
  const write = openLogFile(file);
  let lastAt = 0;
  return (text) => {
    write(text);
    if (Date.now() - lastAt < errorsShownEveryMs) return;
    const error = text.split('\n').map(errorText).find(Boolean);
    if (error === undefined) return;
    lastAt = Date.now();
    say(`${name}: ${error} (see ${file})`);
  };
}
