import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Far more than the few clients send that pipeline requests at all. */
const waitingMax = 64;

export type TakeRequest = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Handles the requests of a connection one after the other: all that arrive in one read would hold
 * up everybody else. Between two of them other connections have their turn.
 */
export function oneAtATime(take: TakeRequest): TakeRequest {
  const busy = new WeakMap<Socket, (() => void)[]>();
  const begin = (request: IncomingMessage, response: ServerResponse, waiting: (() => void)[]) => {
    const { socket } = request;
    response.once('close', () => {
      const next = waiting.shift();
      if (next && !socket.destroyed) setImmediate(next);
      else busy.delete(socket);
    });
    take(request, response);
  };
  return (request, response) => {
    const { socket } = request;
    const waiting = busy.get(socket);
    if (!waiting) {
      const none: (() => void)[] = [];
      busy.set(socket, none);
      begin(request, response, none);
    } else if (waiting.length < waitingMax) {
      waiting.push(() => begin(request, response, waiting));
    } else {
      socket.destroy();
    }
  };
}
