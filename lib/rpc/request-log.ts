import { randomUUID } from 'node:crypto';
import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';
import { codeToString } from '@connectrpc/connect/protocol-connect';
import type { Log } from '#lib/log.ts';

const idHeader = 'x-request-id';
const saneId = /^[\x21-\x7e]{1,128}$/;

/**
 * Gives every call an id, the caller's own where it is sane, which is answered and logged; and logs each
 * call in a line: what was asked, how it ended, how long it took.
 */
export function requestLog(log: Log): Interceptor {
  return (next) => async (request) => {
    const given = request.header.get(idHeader) ?? '';
    const requestId = saneId.test(given) ? given : randomUUID();
    request.header.set(idHeader, requestId);
    const startedAtMs = performance.now();
    const { typeName } = request.service;
    const rpc = `${typeName}/${request.method.name}`;
    const note = (code: string) => {
      const durationMs = Math.round(performance.now() - startedAtMs);
      log.info({ rpc, code, durationMs, requestId }, 'call');
    };
    try {
      const answer = await next(request);
      answer.header.set(idHeader, requestId);
      note('ok');
      return answer;
    } catch (reason) {
      const error = ConnectError.from(reason, Code.Internal);
      error.metadata.set(idHeader, requestId);
      note(codeToString(error.code));
      throw error;
    }
  };
}
