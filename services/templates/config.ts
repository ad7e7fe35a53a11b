import { configReader } from '#lib/process/config.ts';

export const readConfig = configReader({ name: 'templates', peers: ['workspaces'] }, () => ({}));
