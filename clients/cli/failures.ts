import {
  ApiError,
  AuthenticationError,
  ConnectionError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
} from '../typescript/src/errors.ts';

/** Why the program ended. Scripts rely on them. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  notAllowed: 3,
  notFound: 4,
  refused: 5,
  tooMany: 6,
  noAnswer: 7,
} as const;

/** The command line is wrong; the text says where. */
export class UsageError extends Error {}

/** The command line names a thing that is not there. */
export class MissingError extends Error {}

export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return exitCodes.usage;
  if (error instanceof AuthenticationError || error instanceof PermissionError) {
    return exitCodes.notAllowed;
  }
  if (error instanceof NotFoundError || error instanceof MissingError) return exitCodes.notFound;
  if (error instanceof RateLimitError) return exitCodes.tooMany;
  if (error instanceof ConnectionError) return exitCodes.noAnswer;
  if (error instanceof ServerError || !(error instanceof ApiError)) return exitCodes.failed;
  return exitCodes.refused;
}

/** For people: the text, the fields at fault, and the request's id for operators. */
export function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof ApiError)) return error.message;
  const fields = error.fields.map(({ field, description }) => `  ${field}: ${description}`);
  const login = error instanceof AuthenticationError ? ['Sign in by `postrider login`.'] : [];
  const id = error.requestId === undefined ? [] : [`  request ${error.requestId}`];
  return [error.message, ...fields, ...login, ...id].join('\n');
}
