import { KillableThread } from '#lib/killable-thread.ts';
import type { LiquidScope } from '#lib/liquid/engine.ts';
import type { RenderedParts } from './compose.ts';
import type { SlowSource } from './program.ts';
import type { RenderAnswer, RenderRequest } from './worker.ts';

function warmUp(source: Partial<SlowSource>): RenderRequest {
  return { source: { subject: '', html: '', mjml: '', text: '', utm: {}, ...source }, scope: {} };
}

const limits = {
  /** A mail that takes longer is a mistake or an attack; MJML needs about 10 ms. */
  timeMs: 2_000,
  /** The first message of its kind waits for the modules to load as well; MJML's are many. */
  startMs: 10_000,
  memoryMb: 256,
  /** A delivery waits with one message at a time, and fewer deliveries than this run at a time. */
  waitingMax: 1_000,
  warmUps: {
    html: { html: warmUp({ html: 'x' }) },
    mjml: { mjml: warmUp({ mjml: '<mjml><mj-body></mj-body></mjml>' }) },
  },
};
/** After this many kills the template is not tried again: each one has cost its full time. */
const killLimit = 3;
const tooSlow = 'the template takes too long to render';

/**
 * Renders slow templates one after the other in a thread that is killed when one takes too long.
 */
export class RenderThread {
  readonly #thread = new KillableThread<RenderRequest, RenderAnswer>(
    new URL('./worker.ts', import.meta.url),
    limits,
  );
  readonly #kills = new WeakMap<SlowSource, number>();

  /** Throws an error with the reason if the message can't be rendered. Tenants take turns. */
  async render(source: SlowSource, scope: LiquidScope, tenant = ''): Promise<RenderedParts> {
    const kind = source.mjml === '' ? 'html' : 'mjml';
    const request = () => {
      // Counted when its turn comes: those before it in the queue may have had the same template.
      if (this.#killsOf(source) >= killLimit) throw new Error(tooSlow);
      return { source, scope };
    };
    const answer = await this.#thread.ask(request, { kind, tenant });
    if (answer === undefined) {
      this.#kills.set(source, this.#killsOf(source) + 1);
      throw new Error(tooSlow);
    }
    if ('error' in answer) throw new Error(answer.error);
    return answer.parts;
  }

  close(): Promise<void> {
    return this.#thread.close();
  }

  #killsOf(source: SlowSource): number {
    return this.#kills.get(source) ?? 0;
  }
}
