import { LruMap } from '#lib/collections/lru-map.ts';
import type { SendOutcome } from '../providers/outcome.ts';
import { isTooLate, type Outgoing } from '../providers/outgoing.ts';
import type { Sender } from '../providers/provider.ts';

/** The part of a sender that a delivery uses. */
export type DeliverySender = Pick<Sender, 'send' | 'dropOver'>;

export type Answered = (outcome: SendOutcome, begunMsAgo: number) => void;

/** The group of receivers that a message goes to, in this process. */
export type GateKey = {
  /** The same for the same integration and group. */
  name: string;
  /** Messages that may be on their way to it at a time; asked before each. */
  atOnce: () => number;
  /** Hears what became of a message, and how long ago it was handed over. */
  answered: Answered;
};

type Waiting = { outgoing: Outgoing; key: GateKey; isUrgent: boolean; sender: DeliverySender };

type Gate = { inFlight: number; waiting: Waiting[] };

/** A group may have as many here as it takes in this time, so that they hold no room for long. */
const roomMs = 1_000;
/** As long as a message to a group takes until it is known. */
const firstTookMs = 50;
/** Groups whose time for a message is known. */
const timedMax = 10_000;
/** Messages that wait are looked through this often for those that may not be begun any more. */
const lookEveryMs = 250;

/**
 * Limits how many messages to a group are on their way at a time. The others wait here, and not for
 * a connection that other groups could use.
 */
export class Gates {
  /** Groups with messages on their way, or that wait. */
  readonly #gates = new Map<string, Gate>();
  /** How long the last messages to a group took, in milliseconds. */
  readonly #tookMs = new LruMap<number>({ max: timedMax });
  #ticker: NodeJS.Timeout | undefined;

  /** How many more messages to a group may come, of which `atOnce` may be on their way. */
  roomOf(name: string, atOnce: number): number {
    const { inFlight = 0, waiting = [] } = this.#gates.get(name) ?? {};
    const tookMs = Math.max(1, this.#tookMs.get(name) ?? firstTookMs);
    const rounds = Math.max(1, roomMs / tookMs);
    return Math.max(0, Math.ceil(atOnce * rounds) - inFlight - waiting.length);
  }

  /** Messages that wait for others to their group. */
  get waiting(): number {
    return [...this.#gates.values()].reduce((sum, { waiting }) => sum + waiting.length, 0);
  }

  /** The sender behind the gates of messages, which are found by id. */
  before(sender: DeliverySender, keyOf: (id: string) => GateKey | undefined): DeliverySender {
    return {
      send: (messages, { isUrgent = false } = {}) => {
        const open = messages.flatMap((outgoing) => {
          const key = keyOf(outgoing.id);
          if (!key) return [outgoing];
          return this.#enter({ outgoing, key, isUrgent, sender }) ?? [];
        });
        if (open.length > 0) sender.send(open, { isUrgent });
      },
      dropOver: () => {
        this.#dropOver();
        sender.dropOver();
      },
    };
  }

  /** The message to send now; undefined where it waits. */
  #enter(waiting: Waiting): Outgoing | undefined {
    const { name, atOnce } = waiting.key;
    const gate = this.#gates.get(name) ?? { inFlight: 0, waiting: [] };
    this.#gates.set(name, gate);
    if (gate.inFlight < atOnce()) return this.#begin(gate, waiting);
    if (waiting.isUrgent) gate.waiting.unshift(waiting);
    else gate.waiting.push(waiting);
    this.#ticker ??= setInterval(() => this.#dropOver(), lookEveryMs).unref();
    return undefined;
  }

  #begin(gate: Gate, { outgoing, key, sender }: Waiting): Outgoing {
    gate.inFlight += 1;
    const begunAtMs = performance.now();
    return {
      ...outgoing,
      settle: (outcome) => {
        gate.inFlight -= 1;
        outgoing.settle(outcome);
        const tookMs = performance.now() - begunAtMs;
        this.#tookMs.set(key.name, (tookMs + (this.#tookMs.get(key.name) ?? tookMs)) / 2);
        key.answered(outcome, tookMs);
        // The provider takes no mail at all now.
        if (outcome.kind === 'outage')
          this.#settle(gate, (each) => each.sender === sender, outcome);
        this.#next(key.name, gate);
      },
    };
  }

  #next(name: string, gate: Gate): void {
    for (let waiting = gate.waiting[0]; waiting; waiting = gate.waiting[0]) {
      if (gate.inFlight >= waiting.key.atOnce()) return;
      gate.waiting.shift();
      const { outgoing, sender, isUrgent } = waiting;
      if (isTooLate(outgoing)) outgoing.settle({ kind: 'not_started' });
      else sender.send([this.#begin(gate, waiting)], { isUrgent });
    }
    if (gate.inFlight === 0) this.#gates.delete(name);
  }

  #dropOver(): void {
    for (const gate of this.#gates.values()) {
      this.#settle(gate, ({ outgoing }) => isTooLate(outgoing), { kind: 'not_started' });
    }
    if (this.waiting > 0) return;
    clearInterval(this.#ticker);
    this.#ticker = undefined;
  }

  #settle(gate: Gate, isOver: (waiting: Waiting) => boolean, outcome: SendOutcome): void {
    const over = gate.waiting.filter(isOver);
    if (over.length === 0) return;
    gate.waiting = gate.waiting.filter((each) => !isOver(each));
    for (const { outgoing } of over) outgoing.settle(outcome);
  }
}
