import type { Socket } from 'node:net';

/** As long as `HTTP/1.1 100`. */
const startBytes = 12;
const headEnd = '\r\n\r\n';
/** A longer head is left to the client, which refuses it. */
const headMaxBytes = 16 * 1_024;

/**
 * Takes interim responses (1xx, but 101) out of what a socket of HTTP/1.1 reads: undici ends a
 * connection on which a server sends
 * `100 Continue` unasked, as some do before each answer. They stand only before an answer, so what
 * follows a write is looked at.
 */
export function passOverInterimResponses<S extends Socket>(socket: S): S {
  const { read, write } = socket;
  let isBeforeAnswer = false;
  let held: Buffer = Buffer.alloc(0);
  socket.write = function (this: S, ...args: unknown[]) {
    isBeforeAnswer = true;
    return Reflect.apply(write, this, args);
  };
  socket.read = function (this: S, size?: number) {
    for (;;) {
      const chunk: Buffer | null = read.call(this, size);
      if (!isBeforeAnswer) return chunk;
      if (chunk === null) return this.readableEnded ? release() : null;
      held = held.length > 0 ? Buffer.concat([held, chunk]) : chunk;
      while (isInterim(held)) {
        const end = held.indexOf(headEnd);
        if (end === -1) break;
        held = held.subarray(end + headEnd.length);
      }
      if (held.length > 0 && !mayBeInterim(held)) return release();
    }
  };
  /** The bytes held belong to the answer. */
  function release(): Buffer | null {
    isBeforeAnswer = false;
    const answer = held;
    held = Buffer.alloc(0);
    return answer.length > 0 ? answer : null;
  }
  return socket;
}

const isInterim = (bytes: Buffer) =>
  /^HTTP\/1\.[01] 1(?!01)\d\d/.test(bytes.toString('latin1', 0, startBytes));

/** Whether an interim response has begun, of which more is needed. */
function mayBeInterim(bytes: Buffer): boolean {
  if (bytes.length >= headMaxBytes) return false;
  if (bytes.length >= startBytes) return isInterim(bytes);
  const begun = bytes.toString('latin1');
  return ['HTTP/1.1 1', 'HTTP/1.0 1'].some(
    (head) => begun.startsWith(head) || head.startsWith(begun),
  );
}
