import { readFileSync } from 'node:fs';
import {
  type DescribedVariable,
  type Env,
  type IntegerRange,
  required,
  type Variables,
  type VariableText,
} from './env.ts';

/**
 * Reads the settings of a process. Throws one error that names every variable that is missing or
 * wrong; until then the value of such a variable is meaningless. Values of texts never are in the
 * error, since they may be secrets.
 */
export function readEnv<T>(env: Env, read: (variables: Variables) => T): T {
  const faults: string[] = [];
  const config = read(variablesOf(env, { faults, described: [] }));
  if (faults.length > 0) throw new Error([...new Set(faults)].join('; '));
  return config;
}

/**
 * The variables that `read` asks for when none is set. It must ask for all of them then, whatever
 * they are.
 */
export function describeVariables(read: (variables: Variables) => unknown): DescribedVariable[] {
  const described: DescribedVariable[] = [];
  read(variablesOf({}, { faults: [], described }));
  return described;
}

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

type Notes = { faults: string[]; described: DescribedVariable[] };

type Reading = {
  env: Env;
  faults: string[];
  describe(
    name: string,
    text: VariableText,
    fallback: string | undefined,
    more?: Partial<DescribedVariable>,
  ): void;
  valueOrFault(name: string, fallback: string | undefined): string;
};

function variablesOf(env: Env, { faults, described }: Notes): Variables {
  const reading: Reading = {
    env,
    faults,
    describe: (name, { about, unset }, fallback, more = {}) =>
      void described.push({
        ...{ name, about, fallback: unset ?? shownFallback(fallback) },
        ...{ values: '', isSecret: false, ...more },
      }),
    valueOrFault(name, fallback) {
      const value = env[name] || fallback;
      if (value === undefined) faults.push(`${name} is not set`);
      return value ?? '';
    },
  };
  return {
    ...textsOf(reading),
    ...numbersOf(reading),
    ...choicesOf(reading),
    ...listsOf(reading),
    derived: (read) => attempt(read, faults),
  };
}

function textsOf(reading: Reading): Pick<Variables, 'text' | 'secret' | 'file'> {
  const { env, faults } = reading;
  return {
    text(name, setting) {
      reading.describe(name, setting, setting.fallback);
      return reading.valueOrFault(name, setting.fallback);
    },
    secret(name, setting) {
      reading.describe(name, setting, setting.fallback, { isSecret: true });
      const path = env[`${name}_FILE`];
      if (!path) return reading.valueOrFault(name, setting.fallback);
      if (env[name]) faults.push(`${name} and ${name}_FILE are both set`);
      const content = contentOf(`${name}_FILE`, path, faults);
      const value = content?.toString().replace(/[\r\n]+$/, '');
      if (value === '') faults.push(`${name}_FILE: ${path} is empty`);
      return value ?? '';
    },
    file(name, setting) {
      reading.describe(name, setting, '');
      const path = env[name];
      return path ? (contentOf(name, path, faults) ?? Buffer.alloc(0)) : undefined;
    },
  };
}

function numbersOf(reading: Reading): Pick<Variables, 'integer' | 'optionalInteger'> {
  const { env, faults } = reading;
  return {
    integer(name, setting) {
      const fallback = setting.fallback?.toString();
      reading.describe(name, setting, fallback, { values: rangeText(setting) });
      return integerOf(name, reading.valueOrFault(name, fallback), setting, faults);
    },
    optionalInteger(name, setting) {
      reading.describe(name, setting, '', { values: rangeText(setting) });
      const given = env[name];
      return given ? integerOf(name, given, setting, faults) : undefined;
    },
  };
}

function choicesOf({ env, faults, describe }: Reading): Pick<Variables, 'flag' | 'oneOf'> {
  return {
    flag(name, setting) {
      const { fallback = false } = setting;
      describe(name, setting, String(fallback));
      return fallback ? env[name] !== 'false' : env[name] === 'true' || env[name] === '1';
    },
    oneOf(name, words, setting) {
      const values = words.map((each) => `\`${each}\``).join(' or ');
      describe(name, setting, words[0], { values });
      const value = env[name] || words[0];
      const word = words.find((each) => each === value);
      if (!word) faults.push(`${name} must be one of ${words.join(', ')}`);
      return word ?? words[0];
    },
  };
}

function listsOf({ env, faults, describe }: Reading): Pick<Variables, 'list' | 'requiredList'> {
  const itemsOf = (name: string) => {
    const items = (env[name] ?? '').split(/[,;]/).map((item) => item.trim());
    return items.filter((item) => item !== '');
  };
  return {
    list(name, setting) {
      describe(name, setting, '');
      return itemsOf(name);
    },
    requiredList(name, setting) {
      describe(name, setting, undefined);
      const items = itemsOf(name);
      if (items.length === 0) faults.push(`${name} is not set`);
      return items;
    },
  };
}

function shownFallback(fallback: string | undefined): string {
  if (fallback === undefined) return required;
  return fallback === '' ? '' : `\`${fallback}\``;
}

function attempt<T>(read: () => T, faults: string[]): T | undefined {
  try {
    return read();
  } catch (error) {
    faults.push(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

function contentOf(name: string, path: string, faults: string[]): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    faults.push(`${name}: ${path} cannot be read`);
    return undefined;
  }
}

function integerOf(name: string, given: string, range: IntegerRange, faults: string[]): number {
  const { from = Number.MIN_SAFE_INTEGER, to = Number.MAX_SAFE_INTEGER } = range;
  const value = Number(given);
  if (!Number.isSafeInteger(value)) {
    faults.push(`${name} must be a whole number, not ${given}`);
  } else if (given !== '' && (value < from || value > to)) {
    faults.push(`${name} must be from ${from} to ${to}`);
  }
  return value;
}

function rangeText({ from, to }: IntegerRange): string {
  const shown = (value: number) => value.toLocaleString('en-US');
  return from === undefined || to === undefined ? '' : `${shown(from)} to ${shown(to)}`;
}
