import type { IncomingMessage, ServerResponse } from 'node:http';
import { Refusal } from '../api/errors.ts';

export type ReadBody = (
  request: IncomingMessage,
  response: ServerResponse,
  limitBytes: number,
) => Promise<Buffer>;

/** The client disconnected before it had sent everything, so there is no one to answer. */
export class ClientGone extends Error {}

/** Reads bodies within a common memory budget. A body that stops arriving is an error. */
export function createBodyReader({
  budgetBytes,
  stallMs,
}: {
  budgetBytes: number;
  stallMs: number;
}): ReadBody {
  let heldBytes = 0;
  return async (request, response, limitBytes) => {
    const announcedBytes = Number(request.headers['content-length'] ?? 0);
    if (announcedBytes > limitBytes) throw tooLarge();
    const state = { sizeBytes: 0 };
    response.once('close', () => {
      heldBytes -= state.sizeBytes;
    });
    // A client that sent `Expect: 100-continue` waits for this before it sends the body.
    if (request.headers.expect) response.writeContinue();
    return collect(request, stallMs, (chunk) => {
      state.sizeBytes += chunk.length;
      heldBytes += chunk.length;
      if (state.sizeBytes > limitBytes) throw tooLarge();
      if (heldBytes > budgetBytes) throw busy();
    });
  };
}

function collect(
  request: IncomingMessage,
  stallMs: number,
  account: (chunk: Buffer) => void,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const timer = setTimeout(() => stop(tooSlow()), stallMs);
    const letGo = () => {
      clearTimeout(timer);
      request.off('data', take).off('end', finish).off('error', leave).off('close', leave);
      // Later errors of the request are ignored, but without a listener they would end the process.
      request.on('error', ignore);
    };
    const stop = (error: unknown) => {
      letGo();
      reject(error);
    };
    const take = (chunk: Buffer) => {
      try {
        account(chunk);
        chunks.push(chunk);
        timer.refresh();
      } catch (error) {
        stop(error);
      }
    };
    const finish = () => {
      letGo();
      resolve(Buffer.concat(chunks));
    };
    const leave = () => stop(new ClientGone());
    request.on('data', take).on('end', finish).on('error', leave).on('close', leave);
  });
}

const ignore = () => undefined;

function tooLarge(): Refusal {
  return new Refusal(413, 'payload_too_large', 'Request body too large');
}

function tooSlow(): Refusal {
  return new Refusal(408, 'request_timeout', 'Request took too long to arrive');
}

export function busy(): Refusal {
  return new Refusal(503, 'unavailable', 'Too many requests', { 'retry-after': '1' });
}
