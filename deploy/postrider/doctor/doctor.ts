import { readEnv } from '#lib/config.ts';
import type { Env, Variables } from '#lib/env.ts';
import { readGivenKeys } from '#lib/keys/config.ts';
import { databaseVariable, readDatabaseUrl } from '#lib/postgres/config.ts';
import { readAddresses, readPoolSizes } from '#lib/process/config.ts';
import { readTemporal } from '#lib/temporal/config.ts';
import { readOwnPoolSizes, readSystemMailUrl } from '../../../services/messages/config.ts';
import { serviceNames } from '../parts.ts';
import { unknownVariables } from '../unknown-variables.ts';
import { checkConnections, checkDatabase, type Database, type Pools } from './database.ts';
import { type Finding, reasonOf, warning, wrong } from './finding.ts';
import { checkKeys, keyOwners } from './keys.ts';
import { checkMissing } from './missing.ts';
import { checkAddress, checkMail } from './network.ts';
import { checkTemporal } from './temporal.ts';

/**
 * Checks what the variables of its environment lead to, which may be those of one process or of
 * all, and prints what to do. Ends with 1 if something is wrong.
 */
export async function doctor(env: Env): Promise<void> {
  const { stdout, code } = await report(env);
  process.stdout.write(stdout);
  process.exit(code);
}

/** Examines, and answers with the text to print and the code to end with. */
export async function report(env: Env): Promise<{ stdout: string; code: number }> {
  const findings = await examine(env);
  const count = (state: Finding['state']) =>
    findings.filter((finding) => finding.state === state).length;
  const sum = `\n${count('wrong')} wrong, ${count('warning')} warnings\n`;
  return { stdout: findings.map(lineOf).join('') + sum, code: count('wrong') > 0 ? 1 : 0 };
}

const marks = { ok: 'ok     ', warning: 'warning', wrong: 'WRONG  ' };

function lineOf({ state, about, text, remedy }: Finding): string {
  const help = remedy === undefined ? '' : `\n          ${remedy}`;
  return `${marks[state]}  ${about}: ${text}${help}\n`;
}

export async function examine(env: Env): Promise<Finding[]> {
  const faults: Finding[] = [];
  const reading = <T>(about: string, read: (variables: Variables) => T): T | undefined => {
    try {
      return readEnv(env, read);
    } catch (error) {
      faults.push(
        wrong(about, reasonOf(error), 'correct the variable; /docs/variables explains it'),
      );
      return undefined;
    }
  };
  const databases = databasesOf(env, reading);
  const temporal = env.TEMPORAL_ADDRESS ? reading('TEMPORAL_ADDRESS', readTemporal) : undefined;
  const pools = reading('pools', readPools);
  const addresses = reading('addresses', addressesOf) ?? [];
  const keys = reading('SERVICE_KEYS', readGivenKeys);
  const mail = reading('SYSTEM_SMTP_URL', readSystemMailUrl);
  const unknown = unknownVariables(Object.keys(env)).map((name) =>
    warning('variables', `nothing reads ${name}`, 'correct the name, or remove it'),
  );
  // Loading the parts takes the processor, which would make servers look slow.
  const missing = await checkMissing(env, servicesOf(keys ?? ''));
  const checked = await Promise.all([
    ...databases.map(checkDatabase),
    pools ? checkConnections(databases, pools) : [],
    temporal ? checkTemporal(temporal) : [temporalIsMissing],
    keys === undefined ? [] : checkKeys(keys),
    mail === undefined ? [] : checkMail(mail),
    ...addresses.map(({ name, address }) => checkAddress(name, address)),
  ]);
  return [...faults, ...missing, ...checked.flat(), ...unknown];
}

/** The services whose processes this is about: those whose keys are there, else all. */
function servicesOf(keys: string): readonly string[] {
  const owners = keyOwners(keys);
  return owners.length > 0 ? owners : [...serviceNames, 'gateway'];
}

const temporalIsMissing = wrong(
  'TEMPORAL_ADDRESS',
  'is not set; contacts, broadcasts, webhooks and the workers need it',
  'set it to host:port of the frontend',
);

type Reading = <T>(about: string, read: (variables: Variables) => T) => T | undefined;

function databasesOf(env: Env, reading: Reading): Database[] {
  const isGiven = (name: string) => Boolean(env[name] || env[`${name}_FILE`]);
  const given = serviceNames.filter(
    (name) => isGiven(databaseVariable(name)) || isGiven('DATABASE_URL'),
  );
  if (given.length === 0) {
    reading('DATABASE_URL', () => {
      throw new Error('no database URL is set');
    });
  }
  return given.flatMap((name) => {
    const about = databaseVariable(name);
    const url = reading(about, (variables) => readDatabaseUrl(variables, name));
    return url === undefined ? [] : [{ name, url }];
  });
}

function readPools(variables: Variables): Pools {
  const { outcomeConnections, factConnections } = readOwnPoolSizes(variables);
  return { ...readPoolSizes(variables), messages: outcomeConnections + factConnections };
}

function addressesOf(variables: Variables): { name: string; address: string }[] {
  return [...readAddresses(variables, [], serviceNames)].flatMap(([name, addresses]) =>
    addresses.map((address) => ({ name, address })),
  );
}
