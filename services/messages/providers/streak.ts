import type { SendOutcome } from './outcome.ts';

/** Fewer may be chance: several recipients of one domain often get the same answer. */
const alikeMax = 10;

/**
 * Refusals are kept so long for the next outcome to tell whose fault they are, where one may come
 * soon, and where one is on its way.
 */
const keptMs = { idle: 2_000, busy: 30_000 };

type Decided<Message> = { message: Message; outcome: SendOutcome };

/**
 * Counts like outcomes in a row. Many, with no message accepted in between, are the sender's fault
 * and not the messages': they are tried again later. Until that is decided the first ones are kept
 * back, so that no recipient fails for it.
 */
export class Streak<Message> {
  #sign = '';
  #count = 0;
  #kept: Decided<Message>[] = [];
  #addedAtMs = 0;

  get isLong(): boolean {
    return this.#count >= alikeMax;
  }

  get keepsAny(): boolean {
    return this.#kept.length > 0;
  }

  /**
   * The outcomes that are decided now; from the tenth alike on with an outage added. `isSign`:
   * whether an unknown outcome says something of the server; connections that had taken messages
   * before may all have ended because it restarted.
   */
  add(message: Message, outcome: SendOutcome, isSign: boolean): Decided<Message>[] {
    const own = { message, outcome };
    this.#addedAtMs = Date.now();
    const isAccepted = outcome.kind === 'accepted';
    if (isAccepted) this.#count = 0;
    const sign = signOf(outcome, isSign);
    if (sign === undefined) return isAccepted ? [...this.#release(), own] : [own];
    const before = sign === this.#sign ? [] : this.takeKept();
    this.#count = sign === this.#sign ? this.#count + 1 : 1;
    this.#sign = sign;
    if (this.isLong) {
      return [...this.#release(), own].map((each) => ({
        ...each,
        outcome: withOutage(each.outcome),
      }));
    }
    if (outcome.kind !== 'failed') return [...before, own];
    this.#kept.push(own);
    return before;
  }

  /**
   * Outcomes kept back, once no other has come for a time and none will decide them. `isBusy`: one
   * is on its way.
   */
  takeLate(isBusy: boolean): Decided<Message>[] {
    const waitMs = isBusy ? keptMs.busy : keptMs.idle;
    return Date.now() - this.#addedAtMs > waitMs ? this.takeKept() : [];
  }

  /** All that was kept back, undecided: what may be about the account is tried again later. */
  takeKept(): Decided<Message>[] {
    return this.#release().map(({ message, outcome }) => ({
      message,
      outcome:
        outcome.kind === 'failed' && outcome.alike?.mayBeAccount
          ? { kind: 'deferred', info: outcome.info }
          : outcome,
    }));
  }

  #release(): Decided<Message>[] {
    const kept = this.#kept;
    this.#kept = [];
    return kept;
  }
}

/**
 * Outcomes with the same sign are alike; undefined for an outcome that says nothing about other
 * messages.
 */
function signOf(outcome: SendOutcome, isSign: boolean): string | undefined {
  if (outcome.kind === 'unknown' && isSign) return 'unknown';
  return outcome.kind === 'failed' ? outcome.alike?.sign : undefined;
}

/** A refusal that is not the message's fault is tried again later. */
function withOutage(outcome: SendOutcome): SendOutcome {
  if (outcome.kind === 'failed') {
    const { alike, info } = outcome;
    const outage = `${alike?.refused} was refused ${alikeMax} times in a row: ${info}`;
    return { kind: 'deferred', info, outage };
  }
  if (outcome.kind !== 'unknown') return outcome;
  const outage = `it is unknown what became of ${alikeMax} mails in a row: ${outcome.info}`;
  return { ...outcome, outage };
}
