import { pino } from 'pino';
import { build as prettyStream } from 'pino-pretty';
import { currentTraceId, isTracing } from '#lib/telemetry/tracing.ts';

export type Log = pino.Logger;

/**
 * Errors keep the parts that locate a fault, without those that may hold personal data: parameters,
 * details, rows.
 */
function serializeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: 'not an error' };
  const code = 'code' in error ? error.code : undefined;
  const stack = withoutAddresses(error.stack ?? '');
  return { type: error.name, code, message: withoutAddresses(error.message), stack };
}

/**
 * Replaces e-mail addresses, so that a server's reply can be stored. Reads each character once,
 * since the text is untrusted.
 */
export function withoutAddresses(text: string): string {
  if (!text.includes('@')) return text;
  return text.replaceAll(/[^\s<>"'(),;:]+/g, (word) => {
    const at = word.indexOf('@', 1);
    return at > 0 && at < word.length - 1 ? '[address]' : word;
  });
}

function ofTrace(): object {
  const traceId = currentTraceId();
  return traceId === undefined ? {} : { trace_id: traceId };
}

/** One JSON object a line, or text for people. */
export type LogFormat = 'json' | 'pretty';

/** Structured logs on standard output. */
export function createLog(name: string, level = 'info', format: LogFormat = 'json'): Log {
  const options = {
    name,
    level,
    base: { name, pid: process.pid },
    serializers: { err: serializeError },
    ...(isTracing() && { mixin: ofTrace }),
    redact: ['authorization', 'password', 'token', 'secret', '*.password', '*.token', '*.secret'],
  };
  if (format === 'json') return pino(options);
  return pino(options, prettyStream({ colorize: process.stdout.isTTY, ignore: 'pid', sync: true }));
}
