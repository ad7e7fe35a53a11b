import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { serviceNames } from '../parts.ts';
import { openersOf } from './database.ts';

const root = join(import.meta.dirname, '../../..');

test.each(serviceNames)('the doctor counts the pools that %s opens', (name) => {
  const main = readFileSync(join(root, 'services', name, 'main.ts'), 'utf8');
  expect(openersOf(name)).toEqual({
    hasSlowTasks: main.includes('slowTasks:'),
    hasEvents: main.includes('deliverEvents:'),
    hasWorker: existsSync(join(root, 'workflows', name)),
  });
});
