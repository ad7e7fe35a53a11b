import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { databaseFactor, load } from './load.ts';

const file = join(import.meta.dirname, 'unit-costs.json');

type Measured = { from: string; date: string; commit: string; by: Record<string, number> };

export const unitCosts = JSON.parse(readFileSync(file, 'utf8')) as {
  machine: string;
  cpuMicros: Record<Kind, Measured>;
  bytes: Record<'message' | 'contact', { disk: number; log: number }> & {
    delivery: { disk: number };
    mail: { sent: number };
  };
  temporal: { cpuMicrosPerRun: number; eventsPerRun: number; eventsPerThousand: number };
  connections: { perMessagesProcess: number; perProcess: number };
};

export type Kind = 'broadcast' | 'transactional' | 'hit' | 'import' | 'callback' | 'read';

/**
 * How PostgreSQL's share of each kind divides between services. Assumed: the measurements have one
 * database for all.
 */
const statements: Record<Kind, Record<string, number>> = {
  broadcast: { messages: 0.83, contacts: 0.12, broadcasts: 0.05 },
  transactional: { messages: 0.65, contacts: 0.35 },
  hit: { messages: 1 },
  import: { contacts: 1 },
  callback: { webhooks: 1 },
  read: { contacts: 1 },
};

export type Costs = Record<string, number>;

/**
 * Processor time of one thing in microseconds, by service (its processes) and by `<service>-db`.
 */
export function costsOf(kind: Kind): Costs {
  const { postgres = 0, ...services } = unitCosts.cpuMicros[kind].by;
  const databases = Object.entries(statements[kind]).map(([service, share]) => [
    `${service}-db`,
    postgres * share * databaseFactor,
  ]);
  return { ...services, ...Object.fromEntries(databases) };
}

/** Operations a second beside broadcasts, at a rate of mails and a number of tenants. */
export function ratesBeside(mailsPerSecond: number, tenants: number): [Kind, number][] {
  return [
    ['transactional', mailsPerSecond * load.transactionalShare],
    ['hit', mailsPerSecond * load.hitsPerMail],
    ['callback', mailsPerSecond * load.callbacksPerMail],
    ['import', mailsPerSecond * load.importsPerMail],
    ['read', tenants * load.readsPerTenantPerSecond],
  ];
}

export function addTo(sum: Costs, costs: Costs, times: number): void {
  for (const [name, micros] of Object.entries(costs)) sum[name] = (sum[name] ?? 0) + micros * times;
}
