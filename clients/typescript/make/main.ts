import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { madeFiles } from './files.ts';

const folder = join(import.meta.dirname, '../src/made');
const files = madeFiles();
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const [name, text] of files) writeFileSync(join(folder, name), text);
