import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { getOption } from '@bufbuild/protobuf';
import { json as jsonOption } from '#gen/postrider/options/v1/options_pb.ts';
import { contracts } from '../../gateway/api/contracts.ts';
import { routesOf } from '../../gateway/api/routes.ts';

const here = import.meta.dirname;
/** The program, in a virtual environment of its own with the versions of requirements.txt. */
export function installSchemathesis(): string {
  const folder = process.env.POSTRIDER_CACHE ?? join(homedir(), '.cache/postrider');
  const home = join(folder, 'schemathesis-4.32.5');
  const program = join(home, 'bin/schemathesis');
  if (existsSync(program)) return program;
  if (spawnSync('python3', ['--version']).status !== 0) {
    throw new Error('npm run contract needs python3 (3.10 or newer) with venv and pip on the PATH');
  }
  mkdirSync(folder, { recursive: true });
  console.log(`Installing schemathesis into ${home} (once) ...`);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r'];
  try {
    run('python3', ['-m', 'venv', home]);
    run(join(home, 'bin/python'), [...pip, join(here, 'requirements.txt')]);
  } catch (error) {
    // An incomplete environment must not look complete.
    rmSync(home, { recursive: true, force: true });
    throw error;
  }
  return program;
}

function run(command: string, args: string[]): void {
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`);
}

export type ContractRun = {
  program: string;
  folder: string;
  baseUrl: string;
  token: string;
  seed: number;
  examples: number;
  /** Ids of what exists, by `resource.field` or field. */
  known: Record<string, string>;
};

/** Whether all answers were as the document says. */
export function isClean({ program, folder, baseUrl, token, seed, examples, known }: ContractRun) {
  const config = join(folder, 'schemathesis.toml');
  writeFileSync(config, checksToml());
  const args = ['--config-file', config, 'run', `${baseUrl}/openapi.json`];
  args.push('--header', `Authorization: Bearer ${token}`);
  args.push('--phases', 'examples,coverage,fuzzing', '--warnings', 'off', '--continue-on-failure');
  // It would end the session of all later requests.
  args.push('--exclude-path', '/api/user.logout');
  // It would end their workspace.
  args.push('--exclude-path', '/api/workspaces.delete');
  args.push('--seed', String(seed), '--max-examples', String(examples), '--no-color');
  const env = {
    ...process.env,
    SCHEMATHESIS_HOOKS: 'hooks',
    PYTHONPATH: here,
    PYTHONDONTWRITEBYTECODE: '1',
    CONTRACT_KNOWN: JSON.stringify(known),
  };
  return spawnSync(program, args, { stdio: 'inherit', env, cwd: folder }).status === 0;
}

/**
 * Every check but one: valid data may be refused, since a document cannot describe which resources
 * exist. A request whose rows are answered one by one succeeds with bad rows, too.
 */
function checksToml(): string {
  const routes = [...routesOf(contracts).values()].flat();
  const rows = routes.filter(({ method }) =>
    method.input.fields.some(({ message }) =>
      message?.fields.some((field) => getOption(field, jsonOption).rowError),
    ),
  );
  return [
    'checks.positive_data_acceptance.enabled = false',
    // The program's own, and 431, which a long query gets before anything of it is read.
    `checks.negative_data_rejection.expected-statuses = ["400", "401", "403", "404", "405", "406", "409", "415", "422", "428", "429", "431", "5xx"]`,
    ...rows.map(
      ({ path }) =>
        `[[operations]]\ninclude-path = "${path}"\nchecks.negative_data_rejection.enabled = false`,
    ),
  ].join('\n');
}
