import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serviceNames } from '../../deploy/postrider/parts.ts';
import { readers } from '../../scripts/variables/described.ts';
import { here } from '../fleet/fleet.ts';
import { runProgram } from '../fleet/program.ts';
import { sendFirstBroadcast } from './first-broadcast.ts';
import { type Settled, startInstallation } from './installation.ts';
import { readManifests } from './manifests.ts';
import { misfits } from './variables.ts';

/**
 * `node test/installation/chart.ts HELM` runs the processes of the rendered chart, after the steps
 * of its README, and sends a broadcast.
 */
const [helm = 'helm'] = process.argv.slice(2);

const release = 'mail';
// Without a cluster to ask, helm takes an older one than the chart does.
const kubernetes = '1.34';
const known = await readers();
const installation = await startInstallation({
  prefix: `${release}-`,
  prepare: provision,
  containers(settled) {
    const containers = readManifests(render(settled));
    const wrong = misfits(containers, known);
    if (wrong.length > 0) throw new Error(wrong.join('\n'));
    return containers;
  },
});
try {
  await sendFirstBroadcast(installation);
  console.log(`${Object.keys(installation.healthUrls).length} processes are ready`);
} finally {
  await installation.stop();
}

async function provision(secrets: string): Promise<void> {
  const superuser = readFileSync(join(secrets, 'superuser-database-url'), 'utf8').trim();
  const files = serviceNames.map((name) => [
    `${name.toUpperCase()}_DATABASE_URL_FILE`,
    join(secrets, `${name}-database-url`),
  ]);
  await runProgram(here, ['migrate', '--provision'], {
    ...Object.fromEntries(files),
    SUPERUSER_DATABASE_URL: superuser,
  });
}

function render({ PUBLIC_URL, EGRESS_ALLOW, ROOT_EMAIL, SYSTEM_SMTP_URL }: Settled): string {
  const values = [
    'image.repository=postrider',
    `publicUrl=${PUBLIC_URL}`,
    'temporal.address=temporal:7233',
    `env.EGRESS_ALLOW=${EGRESS_ALLOW}`,
    `processes.workspaces.env.ROOT_EMAIL=${ROOT_EMAIL}`,
    `processes.messages.env.SYSTEM_SMTP_URL=${SYSTEM_SMTP_URL}`,
  ];
  const sets = values.flatMap((value) => ['--set', value]);
  const chart = join(here, 'deploy/helm/postrider');
  const { status, stdout, stderr } = spawnSync(
    helm,
    ['template', release, chart, '--kube-version', kubernetes, ...sets],
    {
      encoding: 'utf8',
    },
  );
  if (status !== 0) throw new Error(`helm template: ${stderr}`);
  return stdout;
}
