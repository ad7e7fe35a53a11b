import type { ProcessPart } from '#lib/process/part.ts';
import type { ServicePart } from '#lib/process/run-service.ts';

/**
 * The parts that a process can run, loaded on demand: a service does not pay for the libraries of a
 * worker.
 */

export const services = {
  workspaces: async (): Promise<ServicePart> =>
    (await import('../../services/workspaces/main.ts')).part,
  contacts: async (): Promise<ServicePart> =>
    (await import('../../services/contacts/main.ts')).part,
  templates: async (): Promise<ServicePart> =>
    (await import('../../services/templates/main.ts')).part,
  broadcasts: async (): Promise<ServicePart> =>
    (await import('../../services/broadcasts/main.ts')).part,
  messages: async (): Promise<ServicePart> =>
    (await import('../../services/messages/main.ts')).part,
  webhooks: async (): Promise<ServicePart> =>
    (await import('../../services/webhooks/main.ts')).part,
};

export type ServiceName = keyof typeof services;
export const serviceNames = Object.keys(services) as ServiceName[];
export const isService = (name: string): name is ServiceName => Object.hasOwn(services, name);

const workers = {
  'broadcasts-worker': async (): Promise<ProcessPart> =>
    (await import('../../services/broadcasts/worker.ts')).part,
  'contacts-worker': async (): Promise<ProcessPart> =>
    (await import('../../services/contacts/worker.ts')).part,
  'webhooks-worker': async (): Promise<ProcessPart> =>
    (await import('../../services/webhooks/worker.ts')).part,
};

/** Processes that anybody on the internet reaches. */
const doors = {
  gateway: async (): Promise<ProcessPart> => (await import('../../gateway/main.ts')).part,
  inbound: async (): Promise<ProcessPart> =>
    (await import('../../gateway/returned-mail/main.ts')).part,
  relay: async (): Promise<ProcessPart> => (await import('../../gateway/relay/main.ts')).part,
};

/** In the order in which they start; they stop in the reverse order. */
const waves: readonly Record<string, () => Promise<ProcessPart>>[] = [services, workers, doors];

const groups: Record<string, readonly string[]> = {
  worker: Object.keys(workers),
  all: waves.flatMap((wave) => Object.keys(wave)),
};

/** The words that start a process. */
export const words = [...waves.flatMap((wave) => Object.keys(wave)), ...Object.keys(groups)];

/** Whether a word starts workers alone: nobody waits for an answer of theirs. */
export const isWorkers = (word: string) =>
  (groups[word] ?? [word]).every((name) => Object.hasOwn(workers, name));

export type NamedPart = { name: string; part: ProcessPart };

/** The parts of one of the words, in waves. */
export async function partsOf(word: string): Promise<NamedPart[][]> {
  const names = groups[word] ?? [word];
  return Promise.all(
    waves.map((wave) =>
      Promise.all(
        Object.entries(wave)
          .filter(([name]) => names.includes(name))
          .map(async ([name, load]) => ({ name, part: await load() })),
      ),
    ),
  );
}
