/*
 * The domains that a workspace's mails come from: whether they wait, by which keys they are signed,
 * and their hosts.
 *
 * An answer of workspaces counts for 5 s from when it was asked for. While mails are signed it is
 * asked for again after half of that, so that none of them waits. An answer that was asked for
 * before `refresh` is not used any more, also where it arrives later.
 */

import { equals } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { LRUCache } from 'lru-cache';
import {
  type SendingDomain,
  SendingDomainSchema,
} from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { retryDefaultMs, retryLater } from '#lib/errors/errors.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import type { Log } from '#lib/log.ts';
import { type OpenedKeys, openKeys } from '../dkim/keys.ts';
import type { SigningDomain } from '../dkim/signature.ts';
import type { Workspaces } from '../peers.ts';

/** By name. */
export type KnownDomains = ReadonlyMap<string, KnownDomain>;

const keepMs = 5_000;
const readAgainMs = keepMs / 2;
/** Keys of workspaces that send nothing leave the memory. */
const forgetMs = 60_000;
/** Room for 100 domains with two keys each of 100 workspaces. */
const entriesMaxBytes = 32 * 1024 * 1024;

type Entry = { domains: KnownDomains; askedAtMs: number };

type Options = {
  workspaces: Pick<Workspaces, 'listSendingDomains'>;
  keyring: Pick<Keyring, 'letters'>;
  log: Log;
  /** Keys that are in no answer any more. */
  forget: (domain: SigningDomain) => void;
};

/** A domain as an answer of workspaces has it. Its keys are opened when it is first used. */
export class KnownDomain {
  readonly given: SendingDomain;
  readonly #open: () => OpenedKeys;
  #opened: OpenedKeys | undefined;

  constructor(given: SendingDomain, open: () => OpenedKeys) {
    this.given = given;
    this.#open = open;
  }

  /** The keys that sign its mails; undefined where they are not signed. */
  get keys(): SigningDomain | undefined {
    if (this.given.signingKeys.length === 0) return undefined;
    this.#opened ??= this.#open();
    return this.#opened.domain.keys.length > 0 ? this.#opened.domain : undefined;
  }

  get openedKeys(): SigningDomain | undefined {
    return this.#opened?.domain;
  }

  /**
   * Why its mails wait; empty if they go out. Where Postrider signs, mails that it cannot sign wait
   * too.
   */
  heldBecause(isSigned: boolean): string {
    const { name, isHeld, signingKeys } = this.given;
    if (isHeld) return `the DNS records of ${name} have been wrong for over a day: see domains.get`;
    if (!isSigned || signingKeys.length === 0 || this.keys) return '';
    return `the DKIM keys of ${name} cannot be used: replace them by domains.rotateKey`;
  }
}

export class SendingDomains {
  readonly #options: Options;
  readonly #entries: LRUCache<string, Entry>;
  /** Calls on their way, by workspace. */
  readonly #loading = new Map<string, Promise<KnownDomains>>();
  /**
   * Whether workspaces has ever answered the call. From then on a 404 comes from something in
   * between, and a mail that took it for an answer would be unsigned.
   */
  #isKnown = false;

  constructor(options: Options) {
    this.#options = options;
    this.#entries = new LRUCache({
      maxSize: entriesMaxBytes,
      sizeCalculation: ({ domains }) => bytesOf([...domains.values()]),
      ttl: forgetMs,
      ttlAutopurge: true,
      // The library's own clock stops while a machine sleeps.
      perf: { now: () => Date.now() },
      dispose: ({ domains }, _, why) => {
        if (why !== 'set') for (const domain of domains.values()) this.#forget(domain);
      },
    });
  }

  /** An answer that counts. */
  async read(workspaceId: string): Promise<KnownDomains> {
    const entry = this.#entries.get(workspaceId);
    if (entry && ageOf(entry) < keepMs) return entry.domains;
    return await this.#load(workspaceId);
  }

  /** By what a domain's mails are signed now; `old` where no answer counts. */
  keysNow(workspaceId: string, domain: string): SigningDomain | undefined | 'old' {
    const entry = this.#entries.get(workspaceId);
    if (!entry || ageOf(entry) >= keepMs) return 'old';
    // A failure shows once the answer is too old.
    if (ageOf(entry) >= readAgainMs) this.#load(workspaceId).catch(() => undefined);
    return entry.domains.get(domain)?.keys;
  }

  /** Has a workspace's domains read again. */
  refresh(workspaceId: string): void {
    this.#loading.delete(workspaceId);
    const entry = this.#entries.peek(workspaceId);
    // Keys stay open, since most of them are in the next answer too.
    if (entry) entry.askedAtMs = 0;
  }

  #load(workspaceId: string): Promise<KnownDomains> {
    const known = this.#loading.get(workspaceId);
    if (known) return known;
    const askedAtMs = Date.now();
    const isNewest = () => this.#loading.get(workspaceId) === loading;
    const loading: Promise<KnownDomains> = this.#ask(workspaceId)
      .then((domains) => {
        // Settings have changed since it was asked for.
        if (!isNewest()) return this.read(workspaceId);
        return this.#keep(workspaceId, { domains, askedAtMs });
      })
      .finally(() => {
        if (isNewest()) this.#loading.delete(workspaceId);
      });
    this.#loading.set(workspaceId, loading);
    return loading;
  }

  async #ask(workspaceId: string): Promise<readonly SendingDomain[]> {
    try {
      const { domains } = await this.#options.workspaces.listSendingDomains({ workspaceId });
      this.#isKnown = true;
      return domains;
    } catch (error) {
      if (!(error instanceof ConnectError) || error.code !== Code.Unimplemented) throw error;
      // Workspaces of release 0.2 knows no domains.
      if (!this.#isKnown) return [];
      throw retryLater('sending domains cannot be read now', Code.Unavailable, retryDefaultMs);
    }
  }

  #keep(
    workspaceId: string,
    answer: { domains: readonly SendingDomain[]; askedAtMs: number },
  ): KnownDomains {
    const before = this.#entries.peek(workspaceId)?.domains;
    const domains = new Map(
      answer.domains.map((given) => {
        const known = before?.get(given.name);
        const isSame = known && equals(SendingDomainSchema, known.given, given);
        const domain = isSame
          ? known
          : new KnownDomain(given, () => this.#open(workspaceId, given));
        return [given.name, domain] as const;
      }),
    );
    this.#entries.set(workspaceId, { domains, askedAtMs: answer.askedAtMs });
    for (const [name, domain] of before ?? [])
      if (domains.get(name) !== domain) this.#forget(domain);
    return domains;
  }

  #open(workspaceId: string, given: SendingDomain): OpenedKeys {
    const { keyring, log } = this.#options;
    const opened = openKeys(keyring, workspaceId, given);
    const { unusable: selectors } = opened;
    if (selectors.length > 0) {
      const about = { workspaceId, domain: given.name, selectors };
      log.error(about, 'keys of a domain cannot be used to sign');
    }
    return opened;
  }

  #forget({ openedKeys }: KnownDomain): void {
    if (openedKeys) this.#options.forget(openedKeys);
  }
}

/** About what an answer takes in memory, most of it in sealed keys. */
function bytesOf(domains: readonly KnownDomain[]): number {
  const keys = domains.flatMap(({ given }) => given.signingKeys);
  const sealed = keys.reduce((sum, { sealedPrivateKey }) => sum + sealedPrivateKey.length, 0);
  return 1_000 + 1_000 * (domains.length + keys.length) + sealed;
}

const ageOf = ({ askedAtMs }: Entry) => Date.now() - askedAtMs;
