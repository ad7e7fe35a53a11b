import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startChild } from '../../deploy/local/child.ts';
import type { StackPart } from '../../deploy/local/supervisor.ts';
import { serviceNames } from '../../deploy/postrider/parts.ts';
import { until } from '../stack/until.ts';
import { ask, provisionByProgram, serviceUrls, startServer, urlVariables } from './databases.ts';
import { pgbouncerProgram } from './programs/pgbouncer.ts';
import { freePorts, type Rig } from './rig.ts';
import { kills, linesOf, sendThrough, startStackOn } from './sending.ts';

const killEveryMs = 5_000;

/** pgbouncer in transaction mode between all services and PostgreSQL. */
export async function pgbouncer(rig: Rig): Promise<void> {
  const program = await pgbouncerProgram(rig.say);
  const server = await startServer(rig);
  const direct = serviceUrls(server.url('postrider'), () => 'postrider');
  await rig.check('migrate --provision makes roles and schemas', () =>
    provisionByProgram(server.url('postrider'), direct),
  );
  const [port = 0] = await freePorts(1);
  const pooled = serviceUrls(`postgresql://x@127.0.0.1:${port}/postrider`, () => 'postrider');
  await rig.start(poolerPart(rig, program, { port, serverPort: server.port }, pooled.contacts));
  await rig.check('the settings of a role reach its connections', async () => {
    const [found] = await ask<{ random_page_cost: string }>(
      pooled.contacts,
      'show random_page_cost',
    );
    if (found?.random_page_cost !== '1.1') throw new Error(JSON.stringify(found));
    return `random_page_cost = ${found.random_page_cost}`;
  });
  const stack = await startStackOn(rig, {
    replicas: 2,
    environment: urlVariables(pooled),
    messagesUrl: server.url('postrider'),
  });
  await rig.check('nobody is lost when pgbouncer is killed during a broadcast', () =>
    sendThrough(rig, stack, {
      recipients: 3_000,
      schedule: kills(['pgbouncer', 'pgbouncer', 'pgbouncer'], killEveryMs),
    }),
  );
  await rig.check('no connection is refused for its start-up parameters', async () =>
    none(
      linesOf(stack, /unsupported startup parameter/),
      rig.logOf('pgbouncer'),
      /unsupported startup/,
    ),
  );
  await rig.check('no prepared statement is missing or taken for another', async () =>
    none(linesOf(stack, /prepared statement|bind message supplies/), '', /^$/),
  );
  await rig.check(
    'what one pool needs is not set for those that share its connections',
    async () => {
      const scans = await ask<{ enable_seqscan: string }>(pooled.messages, 'show enable_seqscan');
      if (scans[0]?.enable_seqscan !== 'on') throw new Error('enable_seqscan is off');
      return '';
    },
  );
}

function none(lines: readonly string[], log: string, pattern: RegExp): string {
  const found = [...lines, ...log.split('\n').filter((line) => line !== '' && pattern.test(line))];
  if (found.length > 0) throw new Error(`${found.length} lines: ${found[0]?.slice(0, 400)}`);
  return '';
}

function poolerPart(
  { folder }: Rig,
  program: string,
  { port, serverPort }: { port: number; serverPort: number },
  probeUrl: string,
): StackPart {
  const users = serviceNames.map((name) => `"${name}" "secret of ${name}"\n`);
  // As deploy/README.md says.
  const settings = `[databases]
* = host=127.0.0.1 port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${join(folder, 'users.txt')}
pool_mode = transaction
max_prepared_statements = 200
default_pool_size = 20
max_client_conn = 1000
${process.getuid?.() === 0 ? 'user = nobody' : ''}
`;
  write(join(folder, 'users.txt'), users.join(''));
  write(join(folder, 'pgbouncer.ini'), settings);
  const answers = () =>
    until('pgbouncer answers', () =>
      ask(probeUrl, 'select 1').then(
        () => true,
        () => false,
      ),
    );
  return {
    name: 'pgbouncer',
    start: (options) =>
      startChild(
        { command: program, args: ['pgbouncer.ini'], env: {}, cwd: folder, answers },
        options,
      ),
  };
}

/** For pgbouncer's own account, in a folder that has no other reader. */
function write(file: string, text: string): void {
  writeFileSync(file, text);
  chmodSync(file, 0o644);
}
