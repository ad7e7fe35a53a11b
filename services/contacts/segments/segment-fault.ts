import { Code, ConnectError } from '@connectrpc/connect';
import type { SegmentRow } from './segment.ts';

/** A segment that can't be evaluated. */
export class SegmentFault extends Error {
  readonly segmentId: string;
  readonly reason: string;

  constructor({ id }: SegmentRow, cause: unknown) {
    super(`segment ${id} could not be evaluated`, { cause });
    this.segmentId = id;
    this.reason = reasonOf(cause);
  }
}

const tooSlow = '57014';

/** For operators and callers: contains nothing of a contact. */
export function reasonOf(error: unknown): string {
  if (codeOf(error) === tooSlow) return 'it takes too long to evaluate';
  if (error instanceof ConnectError && error.code === Code.InvalidArgument) {
    return `its tree is invalid: ${error.rawMessage}`.slice(0, 500);
  }
  return `PostgreSQL cannot evaluate it (${codeOf(error) ?? 'unknown'})`;
}

/** Whether a tree is to blame, and not the database or another service. */
export function isFaultOfTree(error: unknown): boolean {
  if (error instanceof ConnectError) return error.code === Code.InvalidArgument;
  const code = codeOf(error) ?? '';
  return code === tooSlow || /^(22|42|54)/.test(code);
}

const awayCodes: ReadonlySet<Code> = new Set([
  Code.Unavailable,
  Code.DeadlineExceeded,
  Code.ResourceExhausted,
]);

/** Whether messages, the only service that is asked, does not answer. */
export const isMessagesAway = (error: unknown): boolean =>
  error instanceof ConnectError && awayCodes.has(error.code);

export const isTooSlow = (error: unknown): boolean => codeOf(error) === tooSlow;

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && code.length === 5 ? code : undefined;
}
