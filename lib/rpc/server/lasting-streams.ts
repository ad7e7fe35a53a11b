import { constants, type Http2Session, type ServerHttp2Stream } from 'node:http2';
import { deadlineDefaultMs } from './deadline.ts';
import { endStream } from './http2.ts';

/** Streams that last until their client ends them: watches of health, and reflection. */
export type StreamLimits = {
  /** Over all connections. */
  streamsMax: number;
  perConnectionMax: number;
  ageMaxMs: number;
  /** How long the message of any other call may take to arrive. */
  messageMaxMs: number;
};

/**
 * A service has few watchers: callers of its replicas, and a probe. Clients open a watch again
 * after its maximum age.
 */
export const streamLimits: StreamLimits = {
  streamsMax: 256,
  perConnectionMax: 16,
  ageMaxMs: 10 * 60_000,
  messageMaxMs: deadlineDefaultMs,
};

/**
 * Admits a stream or refuses it, independently of other calls, and ends it at its maximum age.
 * Refusals are safe to retry.
 */
export function admitStreams({ streamsMax, perConnectionMax, ageMaxMs }: StreamLimits) {
  let open = 0;
  const openOn = new WeakMap<Http2Session, number>();
  return (stream: ServerHttp2Stream): boolean => {
    const { session } = stream;
    const here = (session && openOn.get(session)) ?? 0;
    if (!session || open >= streamsMax || here >= perConnectionMax) {
      endStream(stream, constants.NGHTTP2_REFUSED_STREAM);
      return false;
    }
    const change = (by: 1 | -1) => {
      open += by;
      openOn.set(session, (openOn.get(session) ?? 0) + by);
    };
    change(1);
    const timer = setTimeout(() => endStream(stream, constants.NGHTTP2_CANCEL), ageMaxMs);
    stream.once('close', () => {
      clearTimeout(timer);
      change(-1);
    });
    return true;
  };
}

/** Ends a stream whose message does not arrive in time. */
export function endUnlessSent(stream: ServerHttp2Stream, withinMs: number): void {
  const timer = setTimeout(() => endStream(stream, constants.NGHTTP2_CANCEL), withinMs);
  const stop = () => clearTimeout(timer);
  stream.once('end', stop).once('close', stop);
}
