import { pino } from 'pino';

export type Log = pino.Logger;

/** Errors keep what locates a fault and lose what may hold a person's data: parameters, details, rows. */
function serializeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: 'not an error' };
  const code = 'code' in error ? error.code : undefined;
  const stack = withoutAddresses(error.stack ?? '');
  return { type: error.name, code, message: withoutAddresses(error.message), stack };
}

/** Replaces e-mail addresses, so that a server's words can be kept. */
export function withoutAddresses(text: string): string {
  return text.replaceAll(/[^\s<>"'(),;:]+@[^\s<>"'(),;:]+/g, '[address]');
}

/** Structured logs on standard output, one JSON object a line. */
export function createLog(name: string, level = 'info'): Log {
  return pino({
    name,
    level,
    base: { name, pid: process.pid },
    serializers: { err: serializeError },
    redact: ['authorization', 'password', 'token', 'secret', '*.password', '*.token', '*.secret'],
  });
}
