import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { keepKeys, readKeys, serviceKeysOf } from './file.ts';
import {
  addKeys,
  dropKeys,
  type Installation,
  keysetsOf,
  newInstallation,
  useKeys,
} from './installation.ts';

/**
 * Makes and replaces the keys of an installation: `npm run keys -- [--file F] [--from | --add |
 * --use | --drop] [--only SERVICE] [--links] [--tokens]`. Prints a line for each service: its name
 * and its `SERVICE_KEYS`.
 */
try {
  const { values } = parseArgs({
    options: {
      file: { type: 'string', default: 'keys.json' },
      from: { type: 'boolean', default: false },
      add: { type: 'boolean', default: false },
      use: { type: 'boolean', default: false },
      drop: { type: 'boolean', default: false },
      only: { type: 'string' },
      links: { type: 'boolean', default: false },
      tokens: { type: 'boolean', default: false },
    },
  });
  const before = existsSync(values.file) ? readKeys(values.file) : undefined;
  const keys = nextOf(before, values);
  if (keys !== before) keepKeys(values.file, keys);
  for (const service of Object.keys(keysetsOf(keys))) {
    console.log(`${service} SERVICE_KEYS=${serviceKeysOf(keys, service)}`);
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

type Values = {
  file: string;
  from: boolean;
  add: boolean;
  use: boolean;
  drop: boolean;
  only?: string | undefined;
  links: boolean;
  tokens: boolean;
};

function nextOf(before: Installation | undefined, values: Values): Installation {
  const { file, from, add, use, drop } = values;
  if ([from, add, use, drop].filter(Boolean).length > 1) throw new Error('one step at a time');
  if (!before) {
    if (add || use || drop) throw new Error(`there are no keys in ${file}`);
    // Not an argument, since other accounts of the machine see those.
    return newInstallation(from ? (process.env.SECRET_KEY ?? '') : undefined);
  }
  if (from) throw new Error(`${file} has keys already`);
  if (add) return addKeys(before, values);
  if (use) return useKeys(before);
  return drop ? dropKeys(before, values) : before;
}
