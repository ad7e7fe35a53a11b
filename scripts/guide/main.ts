import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildGuide } from './build.ts';
import { siteFolder } from './site-folder.ts';

/**
 * `npm run guide`: builds the guide, by default for the gateway of this clone. For another host:
 * `--base` is the path below which it is served, `--source` the address of the repository's files,
 * `--to` the folder.
 */
const { values } = parseArgs({
  options: {
    base: { type: 'string', default: '/guide/' },
    source: { type: 'string', default: '' },
    to: { type: 'string', default: siteFolder },
  },
});
if (!/^\/(?:[\w.-]+\/)*$/.test(values.base)) {
  throw new Error('--base must be like / or /guide/');
}
if (values.source !== '' && !/^https?:\/\//.test(values.source)) {
  throw new Error('--source must be like https://git.example.com/postrider/blob/main/');
}
try {
  await buildGuide(values, resolve(values.to));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
// Threads of VitePress would keep the process.
process.exit();
