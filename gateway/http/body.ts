import type { IncomingMessage } from 'node:http';
import { FairShares } from '#lib/limits/fair-shares.ts';
import type { WaitingLane } from '#lib/limits/lanes.ts';
import type { Exchange } from './exchange.ts';
import { Refusal, tooManyAtOnce } from './refusal.ts';

export type ReadBody = (exchange: Exchange, limitBytes: number) => Promise<Buffer>;

/** The client disconnected before it had sent everything, so there is no one to answer. */
export class ClientGone extends Error {}

const veryLargeBytes = 1024 * 1024;

/**
 * Reads bodies within a memory budget, of which each caller has a share. A body that stops arriving
 * is an error.
 */
export function createBodyReader({
  budgetBytes,
  stallMs,
  arrivingBodies,
}: {
  budgetBytes: number;
  stallMs: number;
  /**
   * A body above 1 MiB has a place in it, from before more of it is read until its request is
   * answered.
   */
  arrivingBodies: WaitingLane;
}): ReadBody {
  const shares = new FairShares(budgetBytes);
  return async (exchange, limitBytes) => {
    const { request, response, caller } = exchange;
    const announcedBytes = Number(request.headers['content-length'] ?? 0);
    if (announcedBytes > limitBytes) throw tooLarge();
    const state = { sizeBytes: 0 };
    exchange.hold(() => {
      shares.change(caller, -state.sizeBytes);
      state.sizeBytes = 0;
    });
    let hasPlace = false;
    const takePlace = async () => {
      hasPlace = true;
      exchange.hold(await arrivingBodies.enter(caller, exchange.signal));
    };
    if (announcedBytes > veryLargeBytes) await takePlace();
    // A client that sent `Expect: 100-continue` waits for this before it sends the body.
    if (request.headers.expect) response.writeContinue();
    return collect(request, stallMs, (chunk) => {
      requireShare(shares, caller, chunk.length);
      state.sizeBytes += chunk.length;
      shares.change(caller, chunk.length);
      if (state.sizeBytes > limitBytes) throw tooLarge();
      return state.sizeBytes > veryLargeBytes && !hasPlace ? takePlace() : undefined;
    });
  };
}

function collect(
  request: IncomingMessage,
  stallMs: number,
  /** No more is read until a promise that it returns is fulfilled. */
  account: (chunk: Buffer) => Promise<void> | undefined,
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

/** Throws a 429 if the caller has its share already, and a 503 if all together have everything. */
export function requireShare(shares: FairShares, caller: string, more: number): void {
  const verdict = shares.verdict(caller, more);
  if (verdict === 'all') throw busy();
  if (verdict === 'caller') throw tooManyAtOnce();
}

export function busy(): Refusal {
  return new Refusal(503, 'unavailable', 'Too many requests', { 'retry-after': '1' });
}
