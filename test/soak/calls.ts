import type { Call } from '../stack/client.ts';
import type { TestStack } from '../stack.ts';

/** A call as its client saw it; `status` is 0 if there was no answer. */
export type Made = { kind: string; startedAtMs: number; ms: number; status: number };

export type Calls = {
  made: Made[];
  /** The same stack; its calls are noted by operation. */
  noted(stack: TestStack): TestStack;
  note<T>(kind: string, call: () => Promise<T>, statusOf: (answer: T) => number): Promise<T>;
};

export function createCalls(): Calls {
  const made: Made[] = [];
  const note: Calls['note'] = async (kind, call, statusOf) => {
    const startedAtMs = Date.now();
    const before = performance.now();
    let status = 0;
    try {
      const answer = await call();
      status = statusOf(answer);
      return answer;
    } finally {
      made.push({ kind, startedAtMs, ms: performance.now() - before, status });
    }
  };
  const notedCall =
    (call: Call): Call =>
    (operation, ...rest) =>
      note(
        operation,
        () => call(operation, ...rest),
        ({ status }) => status,
      );
  return { made, note, noted: (stack) => ({ ...stack, call: notedCall(stack.call) }) };
}
