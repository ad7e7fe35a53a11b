import type { Egress } from '#lib/outside/egress.ts';

/** One attempt to deliver an event. */
export type Callback = {
  url: string;
  /** The key of the signature. */
  key: Buffer;
  workspaceId: string;
  /** The delivery; the same in each attempt. */
  id: string;
  type: string;
  /** A JSON text. */
  data: string;
  /** From 1. */
  attempt: number;
};

export type Answer = {
  /** Null if there was no answer. */
  status: number | null;
  /** The first 1,024 bytes of its body, as valid text; null if there was no answer. */
  body: string | null;
  /** Null after a success. Contains no address. */
  error: string | null;
  /** As the answer asked for. */
  retryAfterMs: number;
};

/** Sends one callback, and waits at most ten seconds. Never rejects: a failure is an answer too. */
export function sendCallback(egress: Egress, callback: Callback, now: Date): Promise<Answer> {
  throw new Error(`not built ${egress} ${callback} ${now}`);
}
