import { join } from 'node:path';
import { root } from './pages.ts';

/** Where builds work. */
export const guideFolder = join(root, 'guide');
/** Where the gateway of a clone finds the guide. */
export const siteFolder = join(guideFolder, 'site');
