/** An error as the caller sees it. */
export type Failure = {
  status: number;
  /** Stable, for programs. */
  code: string;
  /** More exact than the code; absent for what the gateway itself refuses. */
  reason?: string;
  text: string;
  details?: { field: string; description: string }[];
  headers?: Record<string, string>;
};

/** A request that the gateway itself refuses. */
export class Refusal extends Error {
  readonly failure: Failure;

  constructor(status: number, code: string, text: string, headers: Record<string, string> = {}) {
    super(text);
    this.failure = { status, code, text, headers };
  }
}

/** For a caller that has its share of places or of memory. */
export function tooManyAtOnce(): Refusal {
  const text = 'too many requests at once; wait for their answers';
  return new Refusal(429, 'resource_exhausted', text, { 'retry-after': '1' });
}
