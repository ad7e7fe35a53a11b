import { readFileSync } from 'node:fs';
import type { Env, Variables } from './env.ts';
import { type Keyset, readKeysetOf } from './keys/keyset.ts';
import { connectionStringOf, inSchema } from './postgres/database-url.ts';

/**
 * Reads the settings of a process. Throws one error that names every variable that is missing or
 * wrong; until then the value of such a variable is meaningless. Values of texts never are in the
 * error, since they may be secrets.
 */
export function readEnv<T>(env: Env, read: (variables: Variables) => T): T {
  const faults: string[] = [];
  const config = read(variablesOf(env, faults));
  if (faults.length > 0) throw new Error([...new Set(faults)].join('; '));
  return config;
}

/** The variable of a service's own database. */
export const databaseVariable = (service: string) => `${service.toUpperCase()}_DATABASE_URL`;

/**
 * Ends the process with a line that names every wrong variable; a stack trace would say no more.
 */
export function settingsOrExit<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    process.stderr.write(`wrong settings: ${error instanceof Error ? error.message : error}\n`);
    process.exit(1);
  }
}

const anyInteger = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER };

function variablesOf(env: Env, faults: string[]): Variables {
  const text: Variables['text'] = (name, fallback) => {
    const value = env[name] || fallback;
    if (value === undefined) faults.push(`${name} is not set`);
    return value ?? '';
  };
  const secret: Variables['secret'] = (name, fallback) => {
    const file = env[`${name}_FILE`];
    if (!file) return text(name, fallback);
    if (env[name]) faults.push(`${name} and ${name}_FILE are both set`);
    try {
      const value = readFileSync(file, 'utf8').replace(/[\r\n]+$/, '');
      if (value === '') faults.push(`${name}_FILE: ${file} is empty`);
      return value;
    } catch {
      faults.push(`${name}_FILE: ${file} cannot be read`);
      return '';
    }
  };
  const derived: Variables['derived'] = (read) => {
    try {
      return read(env);
    } catch (error) {
      faults.push(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  };
  const list: Variables['list'] = (name) => {
    const items = (env[name] ?? '').split(/[,;]/).map((item) => item.trim());
    return items.filter((item) => item !== '');
  };
  return {
    text,
    secret,
    list,
    integer(name, fallback, { from, to } = anyInteger) {
      const given = text(name, fallback?.toString());
      const value = Number(given);
      if (!Number.isSafeInteger(value)) {
        faults.push(`${name} must be a whole number, not ${given}`);
      } else if (given !== '' && (value < from || value > to)) {
        faults.push(`${name} must be from ${from} to ${to}`);
      }
      return value;
    },
    oneOf(name, words) {
      const value = env[name] || words[0];
      const word = words.find((each) => each === value);
      if (!word) faults.push(`${name} must be one of ${words.join(', ')}`);
      return word ?? words[0];
    },
    databaseUrl: (service) => readDatabaseUrl(service, secret, faults),
    flag: (name) => env[name] === 'true' || env[name] === '1',
    requiredList(name) {
      const items = list(name);
      if (items.length === 0) faults.push(`${name} is not set`);
      return items;
    },
    keyset(service) {
      const given = secret('SERVICE_KEYS');
      const read = () => readKeysetOf(given, service);
      return (given === '' ? undefined : derived(read)) ?? ({} as Keyset);
    },
    derived,
  };
}

function readDatabaseUrl(service: string, secret: Variables['secret'], faults: string[]): string {
  const own = databaseVariable(service);
  const given = secret(own, '');
  const shared = secret('DATABASE_URL', '');
  if (given === '' && shared === '') faults.push(`${own} is not set, nor is DATABASE_URL`);
  if (given === '' && shared === '') return '';
  try {
    return given === '' ? inSchema(connectionStringOf(shared), service) : connectionStringOf(given);
  } catch (error) {
    const name = given === '' ? 'DATABASE_URL' : own;
    faults.push(`${name}: ${error instanceof Error ? error.message : error}`);
    return '';
  }
}
