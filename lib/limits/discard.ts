import type { Readable } from 'node:stream';

/**
 * Of all refused messages of a process: reading as fast as clients send would cost others more than
 * the refused calls.
 */
const bytesPerSecond = 16 * 1024 * 1024;
const atOnceBytes = 256 * 1024;

let discarding = 0;

/**
 * Reads the rest of a refused message slowly, and drops it. Messages that are dropped at once have
 * equal shares of the pace.
 */
export function discard(message: Readable): void {
  if (message.readableEnded || message.destroyed) return;
  discarding += 1;
  const left = { bytes: atOnceBytes };
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const over = () => {
    if (isOver) return;
    isOver = true;
    discarding -= 1;
    clearTimeout(timer);
    // A paused stream never closes.
    message.resume();
  };
  message.once('end', over).once('close', over);
  message.on('data', ({ length }: Buffer) => {
    left.bytes -= length;
    // A request that was given up pauses its stream at each part.
    if (left.bytes > 0 || isOver) return void message.resume();
    left.bytes = atOnceBytes;
    message.pause();
    timer = setTimeout(() => message.resume(), (discarding * atOnceBytes * 1_000) / bytesPerSecond);
  });
  message.resume();
}
