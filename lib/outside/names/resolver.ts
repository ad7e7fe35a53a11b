import { FairQueue } from '#lib/collections/fair-queue.ts';
import { Shares } from '#lib/limits/shares.ts';
import { LruMap } from '../../collections/lru-map.ts';
import { EgressError } from '../egress-error.ts';
import { type DnsAnswer, type MailAnswer, queryDns, queryMailHosts } from './query.ts';
import { candidatesOf, createSystemFiles, type SystemFiles } from './system-files.ts';
import type { OutsideAddress } from './target.ts';

/** A name has no address that is known now. */
export class NameError extends EgressError {
  override name = 'NameError';
  /**
   * Whether it is trouble of ours: the name may be right, and nothing is known of the server behind
   * it.
   */
  readonly isOurs: boolean;

  constructor(text: string, { isOurs }: { isOurs: boolean }) {
    super(text);
    this.isOurs = isOurs;
  }
}

/** A workspace asks for more names than its share: nothing is known of this one. */
export class NamesBusyError extends NameError {
  constructor() {
    super('too many names of this workspace wait for an answer of DNS', { isOurs: true });
  }
}

/** Looks up names that tenants have chosen. */
export type Names = {
  /**
   * All addresses of a name, in the order in which to try them; for a workspace, whose share it
   * takes. Throws a NameError.
   */
  resolve(name: string, workspaceId: string): Promise<readonly OutsideAddress[]>;
  /**
   * The mail hosts (MX) of a domain, the preferred one first; none where it names none. Throws a
   * NameError where DNS has no answer.
   */
  mailHosts(domain: string, workspaceId: string): Promise<readonly string[]>;
  /** Ends the queries that are open. */
  close(): void;
};

type Options = {
  /** `address` or `address:port`; those of `/etc/resolv.conf` if there are none. */
  servers?: readonly string[];
  readFiles?: () => Promise<SystemFiles>;
};

/** Queries at a time; each has a socket. A workspace has as many at most as all leave free. */
const queriesMax = 256;
const workspaceQueriesMax = 16;
const workspaceWaitingMax = 200;
const waitingMax = 2_000;
/**
 * Both together are shorter than the 5 s of a call to a feed, so that a name's silence is never
 * taken for the server's.
 */
const waitMaxMs = 1_000;
const queryMaxMs = 3_500;
const namesMax = 10_000;
const keptMinMs = 1_000;
const keptMaxMs = 60_000;
const failureKeptMs = 5_000;

const loopback: readonly OutsideAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

export function createNames({
  servers = [],
  readFiles = createSystemFiles(),
}: Options = {}): Names {
  return new Resolver(servers, readFiles);
}

/** Questions of one kind: the answers that are kept, and the queries that are open. */
class Questions<Answer extends object> {
  readonly kept = new LruMap<Answer>({
    max: namesMax,
    // The library's own clock stops while a machine sleeps.
    perf: { now: () => Date.now() },
  });
  readonly open = new Map<string, Promise<Answer>>();

  known(name: string): Answer | Promise<Answer> | undefined {
    return this.kept.get(name) ?? this.open.get(name);
  }
}

/**
 * Asks for a name once, for all that wait for it, and keeps the answer for as long as DNS says,
 * within bounds. Nothing of this takes a thread of the process, and a workspace whose names are
 * never answered fills its own share alone.
 */
class Resolver implements Names {
  readonly #servers: readonly string[];
  readonly #readFiles: () => Promise<SystemFiles>;
  readonly #addresses = new Questions<DnsAnswer>();
  readonly #mailHosts = new Questions<MailAnswer>();
  readonly #shares = new Shares({ placesMax: queriesMax, tenantMax: workspaceQueriesMax });
  readonly #queue = new FairQueue<() => void>();
  #waiting = 0;
  readonly #closing = new AbortController();

  constructor(servers: readonly string[], readFiles: () => Promise<SystemFiles>) {
    this.#servers = servers;
    this.#readFiles = readFiles;
  }

  async resolve(host: string, workspaceId: string): Promise<readonly OutsideAddress[]> {
    const name = host.toLowerCase();
    const about = this.#addresses;
    const answer = await (about.known(name) ??
      this.#ask(about, { name, workspaceId, query: () => this.#query(name) }));
    if ('targets' in answer) return answer.targets;
    if (answer.failure === 'not_there') {
      throw new NameError('the name does not resolve to an address', { isOurs: false });
    }
    throw noAnswer();
  }

  async mailHosts(domain: string, workspaceId: string): Promise<readonly string[]> {
    const name = domain.toLowerCase();
    const about = this.#mailHosts;
    const answer = await (about.known(name) ??
      this.#ask(about, { name, workspaceId, query: () => this.#queryMailHosts(name) }));
    if ('hosts' in answer) return answer.hosts;
    throw noAnswer();
  }

  close(): void {
    this.#closing.abort();
  }

  /**
   * Another workspace's query is shared once it is open: those that wait may wait behind others of
   * their own workspace.
   */
  async #ask<Answer extends object>(
    about: Questions<Answer>,
    {
      name,
      workspaceId,
      query,
    }: { name: string; workspaceId: string; query: () => Promise<Answer> },
  ): Promise<Answer> {
    if (!this.#shares.take(workspaceId)) {
      await this.#wait(workspaceId);
      const known = about.known(name);
      if (known) {
        this.#release(workspaceId);
        return known;
      }
    }
    const open = query().finally(() => {
      about.open.delete(name);
      this.#release(workspaceId);
    });
    about.open.set(name, open);
    return open;
  }

  async #query(name: string): Promise<DnsAnswer> {
    const files = await this.#readFiles();
    const local = localTargets(name, files);
    // Not cached here: the files are read again every few seconds.
    if (local) return { targets: [...local], ttlSeconds: 0 };
    const answer = await queryDns(candidatesOf(name, files), this.#options());
    this.#addresses.kept.set(name, answer, { ttl: keptMsOf(answer) });
    return answer;
  }

  async #queryMailHosts(domain: string): Promise<MailAnswer> {
    const answer = await queryMailHosts(domain, this.#options());
    const ttl = 'failure' in answer ? failureKeptMs : keptMaxMs;
    this.#mailHosts.kept.set(domain, answer, { ttl });
    return answer;
  }

  #options() {
    const signal = AbortSignal.any([AbortSignal.timeout(queryMaxMs), this.#closing.signal]);
    return { servers: this.#servers, signal };
  }

  #release(workspaceId: string): void {
    this.#shares.release(workspaceId);
    for (;;) {
      const next = this.#queue.take((tenant) => this.#shares.mayTake(tenant));
      if (!next) return;
      this.#waiting -= 1;
      this.#shares.take(next.tenant);
      next.item();
    }
  }

  /** Resolves with a place taken. */
  async #wait(workspaceId: string): Promise<void> {
    if (this.#queue.sizeOf(workspaceId) >= workspaceWaitingMax || this.#waiting >= waitingMax) {
      throw new NamesBusyError();
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#queue.add(workspaceId, resolve);
    this.#waiting += 1;
    const timer = setTimeout(() => {
      if (!this.#queue.remove(workspaceId, resolve)) return;
      this.#waiting -= 1;
      reject(new NamesBusyError());
    }, waitMaxMs);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
    }
  }
}

function noAnswer(): NameError {
  return new NameError('our DNS resolver has no answer for the name now', { isOurs: true });
}

/** `localhost` and the names below it are this machine whatever DNS says (RFC 6761, 6.3). */
function localTargets(name: string, { hosts }: SystemFiles): readonly OutsideAddress[] | undefined {
  const plain = name.replace(/\.$/, '');
  return hosts.get(plain) ?? (/(^|\.)localhost$/.test(plain) ? loopback : undefined);
}

function keptMsOf(answer: DnsAnswer): number {
  if ('failure' in answer) return failureKeptMs;
  return Math.min(Math.max(answer.ttlSeconds * 1_000, keptMinMs), keptMaxMs);
}
