import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { folders, generatedFiles } from './files.ts';

const root = resolve(import.meta.dirname, '../..');
const files = generatedFiles();
for (const folder of folders) {
  rmSync(join(root, folder), { recursive: true, force: true });
  mkdirSync(join(root, folder));
}
for (const [file, text] of files) writeFileSync(join(root, file), text);
