import { setTimeout as sleep } from 'node:timers/promises';
import { LruMap } from '#lib/collections/lru-map.ts';
import { NamesBusyError } from '#lib/outside/names/resolver.ts';
import { receiverOf } from './table.ts';

/** Mail hosts of a domain; rejects where DNS has no answer. */
export type LookUpMailHosts = (domain: string, workspaceId: string) => Promise<readonly string[]>;

/**
 * Some 10 MB, 40 with the longest names. The domains that most lists have in common are used again
 * and again, and stay.
 */
const domainsMax = 50_000;
const failuresMax = 10_000;
const keptMs = 24 * 60 * 60 * 1_000;
const failureKeptMs = 5 * 60 * 1_000;
/** A batch waits so long for all of its domains. */
const waitMaxMs = 500;
/** Names that DNS can have; what an address may have beyond them is no host. */
const hostName = /^(?=.{1,253}$)[a-z0-9_-]+(\.[a-z0-9_-]+)+$/;

/**
 * The groups of receivers by domain. A domain is looked up once a day; without an answer in time
 * its mail counts for the domain itself, and the answer is there for the next batch.
 */
export class ReceiverDirectory {
  readonly #lookUp: LookUpMailHosts;
  readonly #known = new LruMap<string>({
    max: domainsMax,
    ttl: keptMs,
    // The library's own clock stops while a machine sleeps.
    perf: { now: () => Date.now() },
  });

  /** By workspace: the silence may come from what it asks. */
  readonly #failed = new LruMap<true>({
    max: failuresMax,
    ttl: failureKeptMs,
    perf: { now: () => Date.now() },
  });

  constructor(lookUp: LookUpMailHosts) {
    this.#lookUp = lookUp;
  }

  get size(): number {
    return this.#known.size;
  }

  /** The group of each domain. Never rejects. */
  async groupsOf(
    workspaceId: string,
    domains: ReadonlySet<string>,
  ): Promise<ReadonlyMap<string, string>> {
    const groups = new Map<string, string>();
    const looking: Promise<void>[] = [];
    for (const domain of domains) {
      const known = this.#known.get(domain);
      groups.set(domain, known ?? receiverOf(domain, []));
      const isAsked = known === undefined && !this.#failed.has(`${workspaceId} ${domain}`);
      if (isAsked && hostName.test(domain)) {
        const look = this.#look(domain, workspaceId).then((group) => {
          groups.set(domain, group);
        });
        looking.push(look);
      }
    }
    if (looking.length === 0) return groups;
    const over = new AbortController();
    const waited = sleep(waitMaxMs, undefined, { signal: over.signal, ref: false });
    await Promise.race([Promise.all(looking), waited.catch(() => undefined)]);
    over.abort();
    // An answer that comes later changes none of these.
    return new Map(groups);
  }

  async #look(domain: string, workspaceId: string): Promise<string> {
    try {
      const group = receiverOf(domain, await this.#lookUp(domain, workspaceId));
      this.#known.set(domain, group);
      return group;
    } catch (error) {
      // A domain for which there was no place is asked for again with the next batch.
      if (!(error instanceof NamesBusyError)) this.#failed.set(`${workspaceId} ${domain}`, true);
      return receiverOf(domain, []);
    }
  }
}
