/**
 * A server, or several alike: the cores for the processes that run there. Each of `databases` needs
 * its own server: it does not spread.
 */
export type Server = { name: string; cores: number; runs: readonly string[] };

/** `cells` are whole installations beside each other, each with its share of the tenants. */
export type Fleet = { name: string; cells: number; servers: readonly Server[] };

const processes = ['gateway', 'contacts', 'messages', 'broadcasts', 'webhooks'];
const databases = ['contacts-db', 'messages-db', 'broadcasts-db', 'webhooks-db'];

const perService: readonly Server[] = [
  { name: 'gateways', cores: 2, runs: ['gateway'] },
  { name: 'contacts', cores: 2, runs: ['contacts'] },
  { name: 'messages', cores: 4, runs: ['messages'] },
  { name: 'broadcasts, webhooks', cores: 2, runs: ['broadcasts', 'webhooks'] },
  { name: 'Temporal', cores: 4, runs: ['temporal'] },
  { name: 'database of messages', cores: 4, runs: ['messages-db'] },
  { name: 'database of contacts', cores: 2, runs: ['contacts-db'] },
  { name: 'database of webhooks and broadcasts', cores: 2, runs: ['webhooks-db', 'broadcasts-db'] },
];

export const fleets: readonly Fleet[] = [
  {
    name: 'one machine, 2 cores',
    cells: 1,
    servers: [{ name: 'machine', cores: 2, runs: [...processes, ...databases, 'temporal'] }],
  },
  {
    name: 'one database, 12 cores in all',
    cells: 1,
    servers: [
      { name: 'processes', cores: 6, runs: processes },
      { name: 'Temporal', cores: 2, runs: ['temporal'] },
      { name: 'database', cores: 4, runs: databases },
    ],
  },
  { name: 'a database per service', cells: 1, servers: perService },
  { name: 'four cells of that', cells: 4, servers: perService },
];
