import type { ConnectError } from '@connectrpc/connect';
import { invalidField } from '#lib/errors/errors.ts';

const shownMax = 50;

/** The error for a node of a tree. Its text names the node, too. */
export function nodeFault(path: string, text: string): ConnectError {
  return invalidField(path, `${path}: ${text}`);
}

/** A text of a caller, as an error shows it. */
export const shown = (text: string) => text.slice(0, shownMax);
