import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { madeFiles } from './files.ts';

const folder = join(import.meta.dirname, '../src/made');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const [name, text] of madeFiles()) writeFileSync(join(folder, name), text);
