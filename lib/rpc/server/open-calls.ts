import type { IncomingHttpHeaders } from 'node:http2';
import type { DescMethod } from '@bufbuild/protobuf';
import { Code, ConnectError, createContextValues, type HandlerContext } from '@connectrpc/connect';
import { PassingMap } from '../../collections/passing-map.ts';

/** A call in progress. Ending it aborts its signal with the reason. */
export type OpenCall = HandlerContext & { end(reason: ConnectError): void };

type Received = { headers: IncomingHttpHeaders; requestHeader: Headers; timeoutMs: number };

/**
 * Opens calls as the library does, but with one signal each and no copy of the request: the objects
 * that the library creates for a call cost as much as a small operation.
 */
export function openCalls(shutdown: AbortSignal) {
  const open = new PassingMap<OpenCall, NodeJS.Timeout>();
  shutdown.addEventListener('abort', () => {
    for (const call of open.keys()) call.end(ConnectError.from(shutdown.reason));
  });
  return (method: DescMethod, { headers, requestHeader, timeoutMs }: Received) => {
    const ending = new AbortController();
    const untilMs = performance.now() + timeoutMs;
    const late = () => call.end(new ConnectError('the call took too long', Code.DeadlineExceeded));
    const call: OpenCall = {
      service: method.parent,
      method,
      protocolName: 'connect',
      requestMethod: 'POST',
      url: `${headers[':scheme']}://${headers[':authority']}${headers[':path']}`,
      requestHeader,
      responseHeader: new Headers(),
      responseTrailer: new Headers(),
      values: createContextValues(),
      signal: ending.signal,
      timeoutMs: () => untilMs - performance.now(),
      end(reason) {
        clearTimeout(open.get(call));
        open.delete(call);
        ending.abort(reason);
      },
    };
    open.set(call, setTimeout(late, timeoutMs));
    return call;
  };
}
