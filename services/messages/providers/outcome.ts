/**
 * What became of a message that was handed to a provider. `info` is one line of at most 255
 * characters without addresses: it goes into the record, and to the tenant.
 */
export type SendOutcome =
  /** The provider took it, and calls it `providerId` in what it reports later, if it said so. */
  | { kind: 'accepted'; info: string; providerId?: string }
  /** Refused, because the address is dead. */
  | { kind: 'bounced'; info: string }
  /** Refused for good, or it cannot be rendered. `alike`: others may be refused for the same. */
  | { kind: 'failed'; info: string; alike?: Alike }
  /** Refused for now. `outage`: why the provider takes no other mail either. */
  | { kind: 'deferred'; info: string; retryAfterMs?: number; outage?: string }
  /** The provider had all of it and did not answer. */
  | { kind: 'unknown'; info: string; outage?: string }
  /** Nothing was sent: it was stopped, or the lease was over. */
  | { kind: 'not_started' }
  /** The provider takes no mail at all; nothing of this message was sent. */
  | { kind: 'outage'; info: string };

/** What a refusal that may not be the message's own fault has in common with others. */
export type Alike = {
  /** Refusals with the same sign have the same reason. */
  sign: string;
  /** What was refused, such as `DATA`. */
  refused: string;
  /** It speaks of the session or the account, though it answers for one message. */
  mayBeAccount: boolean;
};

export const infoLength = 255;
/** A longer delay than a day is not kept. */
export const retryAfterMaxMs = 24 * 60 * 60 * 1000;

/** Why the provider takes no mail; undefined if the outcome doesn't say that it takes none. */
export function outageOf(outcome: SendOutcome): string | undefined {
  if (outcome.kind === 'outage') return outcome.info;
  return 'outage' in outcome ? outcome.outage : undefined;
}
