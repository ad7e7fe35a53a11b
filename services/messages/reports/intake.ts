import { Code } from '@connectrpc/connect';
import { GroupWriter } from '#lib/batching/group-writer.ts';
import { retryLater } from '#lib/errors/errors.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { ReportPace } from './pace.ts';
import {
  type InboundRequest,
  insertRequests,
  type SealedRequest,
  sealRequest,
} from './requests.ts';

type IntakeContext = { store: Store; keyring: Keyring; reportPace: ReportPace };
type KeptRequest = SealedRequest & PromiseWithResolvers<void>;

/** Bounds a statement. */
const groupMax = 100;
const groupMaxBytes = 8 * 1_024 * 1_024;
/** No provider minds, and a storm costs fewer commits. */
const waitMaxMs = 50;
/** Of requests that are not stored yet, in this process. */
const unstoredMax = 500;
const retryMs = 30_000;

/** Stores requests in groups of all workspaces, so that a storm costs few commits. */
export class ReportIntake {
  readonly #context: IntakeContext;
  readonly #writer: GroupWriter<KeptRequest>;
  #unstored = 0;

  constructor(context: IntakeContext) {
    this.#context = context;
    this.#writer = new GroupWriter<KeptRequest>({
      ...{ groupMax, groupMaxBytes, waitMaxMs, sizeOf: ({ content }) => content.length },
      write: (group) => this.#write(group),
      // No group is refused for one of its requests.
      refused: async () => {},
    });
  }

  /** Resolves once the request is committed, and the job that stores its reports. */
  async keep(request: InboundRequest): Promise<void> {
    if (this.#unstored >= unstoredMax) {
      throw retryLater('too many reports wait', Code.ResourceExhausted, retryMs);
    }
    this.#unstored += 1;
    try {
      const sealed = await sealRequest(this.#context.keyring, request);
      const kept = { ...sealed, ...Promise.withResolvers<void>() };
      this.#writer.add(kept);
      await kept.promise;
    } finally {
      this.#unstored -= 1;
    }
  }

  async #write(group: readonly KeptRequest[]): Promise<void> {
    const { store, reportPace } = this.#context;
    try {
      await insertRequests(store.fork(), group, reportPace.nextAt());
      for (const { resolve } of group) resolve();
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }
}
