import { join } from 'node:path';
import { root } from './pages.ts';

/** Builds work in this folder. */
export const guideFolder = join(root, 'guide');
/** The gateway of a clone serves this folder. */
export const siteFolder = join(guideFolder, 'site');
