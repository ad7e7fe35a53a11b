import { LruMap } from '#lib/collections/lru-map.ts';
import { KillableThread, ThreadBusyError } from '#lib/killable-thread.ts';
import type { LiquidScope } from '#lib/liquid/engine.ts';
import type { CompiledStructure, StructureRequest } from '#lib/mail/structure.ts';
import type { RenderedParts } from './compose.ts';
import type { SlowText } from './overrides.ts';
import type { SlowSource } from './program.ts';
import type { TrackAnswer, TrackRequest } from './tracked-mail.ts';
import type { CheckedParts, LiquidFault, RenderAnswer, RenderRequest } from './worker.ts';

const blank = '<mjml><mj-body></mj-body></mjml>';
const numbers = { addresses: {}, choices: {}, ranges: [], other: 0 };

function warmUp(kind: SlowSource['kind'], body: string): RenderRequest {
  const source: SlowSource = { subject: '', kind, body, text: '', utm: {}, numbers };
  return { do: 'render', source, scope: {} };
}

const limits = {
  /** A mail that takes longer is a mistake or an attack; MJML needs about 10 ms. */
  timeMs: 2_000,
  /** The first message of its kind waits for the modules to load as well; MJML's are many. */
  startMs: 10_000,
  memoryMb: 256,
  /** A delivery waits with one message at a time, and fewer deliveries than this run at a time. */
  waitingMax: 1_000,
  // MJML takes 100 MB: a spare loads it when it is needed.
  warmUps: { html: { html: warmUp('html', 'x') } },
};
/** After this many kills the template is not tried again: each one has cost its full time. */
const killLimit = 3;
const tooSlow = 'the template takes too long to render';
/** Kills by the contents of single mails are counted for each tenant, for this long. */
const tenantKeptMs = 60_000;
const tenantsMax = 10_000;

type Asked = {
  kind: string;
  owner: object;
  tenant: string;
  /** Whether the owner passes: who asks then waits for it. */
  isOnce?: boolean;
};

/**
 * Compiles structures and renders slow templates, one after the other, in a thread that is killed
 * when one takes too long. Tenants take turns. Calls throw an error with the reason where a
 * mail can't be rendered.
 */
export class RenderThread {
  readonly #thread: KillableThread<RenderRequest, RenderAnswer>;
  /** By what belongs to one template: a source, or the numbers of its links. */
  readonly #kills = new WeakMap<object, number>();
  /** Owners of kills by contents of single mails. */
  readonly #tenants = new LruMap<object>({ max: tenantsMax, ttl: tenantKeptMs });

  constructor(thread = newThread()) {
    this.#thread = thread;
  }

  async compile(request: StructureRequest, tenant = ''): Promise<CompiledStructure> {
    const { kind, numbers: owner } = request;
    const answer = await this.#ask({ do: 'structure', request }, { kind, owner, tenant });
    return 'compiled' in answer ? answer.compiled : somethingElse();
  }

  async render(source: SlowSource, scope: LiquidScope, tenant = ''): Promise<RenderedParts> {
    const { kind } = source;
    const ask = { do: 'render', source, scope } as const;
    const answer = await (source.own
      ? this.#askOnce(ask, tenant)
      : this.#ask(ask, { kind, owner: source, tenant }));
    return 'parts' in answer ? answer.parts : somethingElse();
  }

  /** The changes by which opens and clicks of a finished mail are counted. */
  async track(request: TrackRequest, tenant = ''): Promise<TrackAnswer> {
    const answer = await this.#askOnce({ do: 'track', request }, tenant);
    return 'tracked' in answer ? answer.tracked : somethingElse();
  }

  /** The part of a mail's own content that is no Liquid. */
  async check(parts: CheckedParts, tenant = ''): Promise<LiquidFault | undefined> {
    const answer = await this.#askOnce({ do: 'check', parts }, tenant);
    return 'fault' in answer ? answer.fault : somethingElse();
  }

  /** A short text of one message, such as its subject. */
  async text(owner: SlowText, scope: LiquidScope, tenant = ''): Promise<string> {
    const { text } = owner;
    const answer = await this.#ask({ do: 'text', text, scope }, { kind: 'html', owner, tenant });
    return 'text' in answer ? answer.text : somethingElse();
  }

  /** Loads its modules, so that the first mail does not wait for them. */
  warmUp(): void {
    const kind = 'mjml';
    this.#thread.ask(() => warmUp(kind, blank), { kind }).catch(() => undefined);
  }

  close(): Promise<void> {
    return this.#thread.close();
  }

  async #ask(
    request: RenderRequest,
    { kind, owner, tenant, isOnce = false }: Asked,
  ): Promise<Exclude<RenderAnswer, { error: string }>> {
    const ask = () => {
      // Counted when its turn comes: those before it in the queue may have had the same template.
      if (this.#killsOf(owner) < killLimit) return request;
      throw isOnce ? new ThreadBusyError('mails took too long') : new Error(tooSlow);
    };
    const answer = await this.#thread.ask(ask, { kind, tenant });
    if (answer === undefined) {
      this.#kills.set(owner, this.#killsOf(owner) + 1);
      throw new Error(tooSlow);
    }
    if ('error' in answer) throw new Error(answer.error);
    return answer;
  }

  /**
   * About the content of one mail, which is not seen again: a tenant whose contents had the thread
   * killed is busy for the rest of a minute.
   */
  #askOnce(request: RenderRequest, tenant: string) {
    const owner = this.#tenants.get(tenant) ?? {};
    if (!this.#tenants.has(tenant)) this.#tenants.set(tenant, owner);
    return this.#ask(request, { kind: 'html', owner, tenant, isOnce: true });
  }

  #killsOf(owner: object): number {
    return this.#kills.get(owner) ?? 0;
  }
}

export function newThread({
  timeMs = limits.timeMs,
} = {}): KillableThread<RenderRequest, RenderAnswer> {
  return new KillableThread(new URL('./worker.ts', import.meta.url), { ...limits, timeMs });
}

function somethingElse(): never {
  throw new Error('the thread answered something else');
}
