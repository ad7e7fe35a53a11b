import { STATUS_CODES } from 'node:http';
import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { parseExactly } from '../json/text.ts';
import type { Egress, EgressAnswer } from './egress.ts';
import { isTimeout, reasonOf } from './failure.ts';

/** A tenant's server that is called for data. */
export type Feed = { url: string; headers: readonly Header[] };

export type Header = { name: string; value: string };

export type FeedAnswer =
  | { data: JsonObject; fetchedAt: Date; sizeBytes: number }
  /** `isRetryable` says whether a retry may succeed; the text contains no address. */
  | { error: string; isRetryable: boolean };

const timeoutMs = 5_000;
export const feedSizeMaxBytes = 1024 * 1024;
/** Each level is three levels of a message on the wire, which may have 100. */
const depthMax = 24;

/** Calls a feed once. Its failures are returned, not thrown. */
export async function askFeed(
  { egress }: { egress: Egress },
  feed: Feed,
  {
    workspaceId,
    payload,
    signal,
  }: { workspaceId: string; payload: JsonObject; signal?: AbortSignal },
): Promise<FeedAnswer> {
  const headers = headersOf(feed);
  try {
    const answer = await egress.call({
      workspaceId,
      method: 'POST',
      url: feed.url,
      headers,
      body: JSON.stringify(payload),
      timeoutMs,
      sizeMaxBytes: feedSizeMaxBytes,
      ...(signal ? { signal } : {}),
    });
    return readAnswer(answer);
  } catch (error) {
    return { error: failureOf(error), isRetryable: true };
  }
}

/** The tenant's own come last, so that they may replace ours; names are compared in lower case. */
function headersOf({ headers }: Feed): Record<string, string> {
  const own = headers.map(({ name, value }) => [name.toLowerCase(), value]);
  return {
    'content-type': 'application/json',
    accept: 'application/json',
    'user-agent': 'Postrider/1.0 DataFeedFetcher',
    ...Object.fromEntries(own),
  };
}

function readAnswer({ status, body, truncated }: EgressAnswer): FeedAnswer {
  if (status < 200 || status > 299) {
    const isRetryable = status >= 500 || status === 408 || status === 429;
    return { error: `HTTP error ${status}: ${STATUS_CODES[status] ?? 'Unknown'}`, isRetryable };
  }
  if (truncated) return invalid('longer than 1 MiB');
  const data = parse(body);
  if (typeof data !== 'object' || data === null || Array.isArray(data)) {
    return invalid(data === undefined ? 'not JSON' : 'not an object');
  }
  const fault = faultOf(data, 1);
  if (fault) return invalid(fault);
  const fetchedAt = new Date();
  return {
    data: { ...data, _success: true, _fetched_at: fetchedAt.toISOString() },
    fetchedAt,
    sizeBytes: body.length,
  };
}

function invalid(why: string): FeedAnswer {
  return { error: `invalid JSON response: ${why}`, isRetryable: false };
}

function parse(body: Buffer): JsonValue | undefined {
  try {
    return parseExactly(body) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Why a JSON value fits neither the database nor a message; undefined if it does. */
function faultOf(value: JsonValue, depth: number): string | undefined {
  if (typeof value === 'number')
    return Number.isFinite(value) ? undefined : 'a number is too large';
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > depthMax) return `nested more than ${depthMax} deep`;
  for (const inner of Object.values(value)) {
    const fault = faultOf(inner, depth + 1);
    if (fault) return fault;
  }
  return undefined;
}

function failureOf(error: unknown): string {
  return isTimeout(error) ? 'request timeout after 5s' : `request failed: ${reasonOf(error)}`;
}
