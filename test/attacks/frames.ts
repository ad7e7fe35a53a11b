/** Frames of HTTP/2 (RFC 9113), as a client sends them that follows no rule of a library. */

const types = { headers: 1, reset: 3, settings: 4 };
const endHeaders = 0x4;
const cancel = 8;

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** The preface of a client, and its empty settings. */
export const preface = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  frame(types.settings, 0, 0, Buffer.alloc(0)),
]);

/** A literal of HPACK whose name is in the static table. */
const literal = (name: number[], value: string) =>
  Buffer.from([...name, value.length, ...Buffer.from(value)]);

/** The head of a call by gRPC: POST, http, its path, authority and content type. */
const headOf = (path: string) =>
  Buffer.concat([
    Buffer.from([0x83, 0x86]),
    literal([0x04], path),
    literal([0x01], 'x'),
    literal([0x0f, 0x10], 'application/grpc'),
  ]);

/** Calls that are cancelled in the moment in which they begin. */
export function resetCalls(path: string, count: number): Buffer {
  const [head, code] = [headOf(path), Buffer.from([0, 0, 0, cancel])];
  return Buffer.concat(
    Array.from({ length: count }, (_, at) => [
      frame(types.headers, endHeaders, 2 * at + 1, head),
      frame(types.reset, 0, 2 * at + 1, code),
    ]).flat(),
  );
}
