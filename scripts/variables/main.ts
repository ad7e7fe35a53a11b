import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './described.ts';
import { generatedFiles } from './files.ts';

for (const [file, text] of await generatedFiles()) writeFileSync(join(root, file), text);
