import { configReader } from '#lib/process/config.ts';

export const readConfig = configReader(
  {
    name: 'contacts',
    peers: ['messages', 'templates', 'workspaces'],
    optionalPeers: ['webhooks'],
  },
  () => ({}),
);
