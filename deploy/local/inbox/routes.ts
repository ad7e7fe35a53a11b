import type { IncomingMessage } from 'node:http';
import type { Callbacks } from './callbacks.ts';
import { pagePolicy } from './layout.ts';
import type { InboxMailbox } from './mailbox.ts';

export type InboxAnswer = {
  status?: number;
  type: string;
  body: string | Buffer;
  policy?: string;
  /** Has the browser save the body under this name. */
  fileName?: string;
};
export type Question = {
  box: InboxMailbox;
  callbacks: Callbacks;
  request: IncomingMessage;
  /** Aborted when the client has gone. */
  signal: AbortSignal;
  query: URLSearchParams;
  /** What the parentheses in the path matched. */
  part: string;
};
export type InboxRoute = [
  method: string,
  path: RegExp,
  answer: (q: Question) => InboxAnswer | Promise<InboxAnswer>,
];

export const limitMax = 1_000;
export const pageLimit = 50;

export function json(value: unknown): InboxAnswer {
  return { type: 'application/json', body: JSON.stringify(value) };
}

export function fault(status: number, error: string): InboxAnswer {
  return { status, ...json({ error }) };
}

export const notFound = fault(404, 'not found');

export function page(body: string): InboxAnswer {
  return { type: 'text/html', body, policy: pagePolicy };
}

export function numberOf(text: string | null, fallback: number, max: number): number {
  const number = Number.parseInt(text ?? '', 10);
  return Number.isNaN(number) ? fallback : Math.min(Math.max(number, 0), max);
}
