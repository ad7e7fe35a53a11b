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
  /** The work that was done before it failed, as more fields of the answer. */
  done?: object;
};

/** A request that the gateway itself refuses. */
export class Refusal extends Error {
  readonly failure: Failure;

  constructor(status: number, code: string, text: string, headers: Record<string, string> = {}) {
    super(text);
    this.failure = { status, code, text, headers };
  }
}

export function notFound(): Refusal {
  return new Refusal(404, 'not_found', 'Not found');
}

/** `allow` names the methods of the path. */
export function methodNotAllowed(allow: string): Refusal {
  return new Refusal(405, 'method_not_allowed', 'Method not allowed', { allow });
}

/** Throws for methods that change something. */
export function requireReading(method: string | undefined): void {
  if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed('GET, HEAD, OPTIONS');
}
