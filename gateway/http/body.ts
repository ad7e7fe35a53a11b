import type { IncomingMessage } from 'node:http';

/** The client disconnected before it had sent everything, so there is no one to answer. */
export class ClientGone extends Error {}

export type BodyWatch = {
  /** How long a body may pause while it arrives. */
  stallMs: number;
  /** The error of one that pauses for longer. */
  stalled(): Error;
  /** Throws to end the reading. Nothing is read until a promise that it returns is fulfilled. */
  account(chunk: Buffer): Promise<void> | undefined;
};

/** Reads a body. The rest of one that is given up is left unread. */
export function collectBody(
  request: IncomingMessage,
  { stallMs, stalled, account }: BodyWatch,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const timer = setTimeout(() => stop(stalled()), stallMs);
    const detach = () => {
      clearTimeout(timer);
      request.off('data', take).off('end', finish).off('error', leave).off('close', leave);
      // Later errors of the request are ignored, but without a listener they would end the process.
      request.on('error', ignore);
    };
    const stop = (error: unknown) => {
      detach();
      reject(error);
    };
    const take = (chunk: Buffer) => {
      try {
        const place = account(chunk);
        chunks.push(chunk);
        timer.refresh();
        if (place) pauseUntil(place);
      } catch (error) {
        stop(error);
      }
    };
    const pauseUntil = (place: Promise<void>) => {
      request.pause();
      place.then(() => {
        timer.refresh();
        request.resume();
      }, stop);
    };
    const finish = () => {
      detach();
      resolve(Buffer.concat(chunks));
    };
    const leave = () => stop(new ClientGone());
    request.on('data', take).on('end', finish).on('error', leave).on('close', leave);
  });
}

const ignore = () => undefined;

export type PartsWatch = Pick<BodyWatch, 'stallMs' | 'stalled'> & {
  /** Bytes that have to arrive in each `stallMs` that the body is waited for. */
  bytesMin: number;
};

/** A body part by part, each read once the one before was taken. The rest is left unread. */
export async function* bodyParts(
  request: IncomingMessage,
  { stallMs, stalled, bytesMin }: PartsWatch,
): AsyncGenerator<Buffer> {
  request.on('error', ignore);
  const parts = request.iterator({ destroyOnReturn: false });
  let waitedMs = 0;
  let bytes = 0;
  for (;;) {
    const sinceMs = performance.now();
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(stalled()), stallMs);
    try {
      const { done, value } = await Promise.race([nextOf(parts), late]);
      if (done) return;
      waitedMs += performance.now() - sinceMs;
      bytes += value.length;
      if (waitedMs >= stallMs) {
        if (bytes < bytesMin) throw stalled();
        [waitedMs, bytes] = [0, 0];
      }
      yield value;
    } finally {
      clearTimeout(timer);
    }
  }
}

async function nextOf(parts: AsyncIterator<Buffer>): Promise<IteratorResult<Buffer>> {
  try {
    return await parts.next();
  } catch {
    throw new ClientGone();
  }
}
