import { Code } from '@connectrpc/connect';
import { GroupWriter } from '#lib/batching/group-writer.ts';
import { retryLater } from '#lib/errors/errors.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import { FairShares } from '#lib/limits/fair-shares.ts';
import type { Store } from '#lib/postgres/store.ts';
import type { ReportPace } from './pace.ts';
import {
  type InboundRequest,
  insertRequests,
  requestText,
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
/** Of requests that are not stored yet, in this process; a workspace has a share. */
const unstoredMax = 500;
const unstoredMaxBytes = 64 * 1_024 * 1_024;
const retryMs = 30_000;

/** Stores requests in groups of all workspaces, so that a storm costs few commits. */
export class ReportIntake {
  readonly #context: IntakeContext;
  readonly #writer: GroupWriter<KeptRequest>;
  readonly #requests = new FairShares(unstoredMax);
  readonly #bytes = new FairShares(unstoredMaxBytes);

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
    const { workspaceId } = request.place;
    const text = requestText(request);
    const isFull =
      this.#requests.verdict(workspaceId, 1) !== 'granted' ||
      this.#bytes.verdict(workspaceId, text.length) !== 'granted';
    if (isFull) throw retryLater('too many reports wait', Code.ResourceExhausted, retryMs);
    const count = (by: 1 | -1) => {
      this.#requests.change(workspaceId, by);
      this.#bytes.change(workspaceId, by * text.length);
    };
    count(1);
    try {
      const sealed = await sealRequest(this.#context.keyring, request, text);
      const kept = { ...sealed, ...Promise.withResolvers<void>() };
      this.#writer.add(kept);
      await kept.promise;
    } finally {
      count(-1);
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
