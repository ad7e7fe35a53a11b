import type { Answer } from '../endpoint/callback.ts';
import type { SubscriptionKey } from '../subscription.ts';

/** What became of a claimed delivery. */
export type Result = {
  key: SubscriptionKey;
  id: string;
  /** The attempt that was claimed; the result counts only while it is the last one. */
  attempt: number;
  endedAt: Date;
  answer: Answer;
};
