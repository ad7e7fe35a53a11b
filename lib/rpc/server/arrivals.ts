import { Http2ServerRequest, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { DescMethod } from '@bufbuild/protobuf';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { Code, ConnectError, createContextKey, type HandlerContext } from '@connectrpc/connect';
import { retryDefaultMs, retryLater } from '#lib/errors/errors.ts';
import { FairShares } from '#lib/limits/fair-shares.ts';
import { clientNetwork } from '#lib/networks/client-network.ts';
import { publicMessageMaxBytes } from '../wire.ts';
import { type Access, clientAddressOf, limitedBy, operationOf } from './access.ts';
import { widen } from './http2.ts';

/**
 * Of the messages of all callers, from when they arrive until their calls end. Calls of our
 * services do not count.
 */
export const messagesMaxBytes = 128 * 1024 * 1024;
/** The rest of a larger message is read only once its caller has shown the permission for it. */
const uncheckedMaxBytes = 64 * 1024;

/** The message of a call, as it arrives. */
export type Arrival = {
  /** Called once the caller's token is verified, before any of the message is read. */
  begin(context: HandlerContext): void;
  /**
   * Counts a part of the message. No more may be read until a promise that it returns is fulfilled.
   * Throws where the caller has its share of the memory for messages, or not the permission.
   */
  take(part: Uint8Array): Promise<void> | undefined;
};

export const arrivalKey = createContextKey<Arrival | undefined>(undefined);

/** Makes the arrival of each call of a service. */
export function arrivals(access: Access, budgetBytes: number) {
  const shares = new FairShares(budgetBytes);
  return (stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Arrival => {
    let context: HandlerContext | undefined;
    /** Undefined for a call of a service. */
    let caller: string | undefined;
    let [sizeBytes, maxBytes] = [0, Number.POSITIVE_INFINITY];
    /** The message so far, until the permission is checked. */
    let head: Uint8Array[] | undefined;
    const check = async (call: HandlerContext, bytes: Buffer): Promise<void> => {
      const workspace = workspaceAt(call.method, headers, bytes);
      if (!workspace) maxBytes = publicMessageMaxBytes;
      else
        await access(
          { method: call.method, header: call.requestHeader, values: call.values },
          workspace,
        );
    };
    const giveBack = () => {
      if (caller !== undefined) shares.change(caller, -sizeBytes);
      caller = undefined;
    };
    /** Drops the bytes of a refused message at once. */
    const refused = <Reason>(error: Reason): Reason => {
      giveBack();
      return error;
    };
    return {
      begin(call) {
        const { user, isDirect } = limitedBy(call.values);
        const rule = operationOf(call.method)?.access?.rule.case;
        if (rule !== undefined && !isDirect) widen(stream.session);
        if (rule !== undefined && rule !== 'public' && user === undefined) return;
        context = call;
        caller = user ?? clientNetwork(clientAddressOf(call));
        if (user !== undefined) head = [];
      },
      take(part) {
        if (!context || caller === undefined || stream.destroyed) return undefined;
        const verdict = shares.verdict(caller, part.length);
        if (verdict !== 'granted') throw refused(tooMuch(verdict));
        if (sizeBytes === 0) stream.once('close', giveBack);
        sizeBytes += part.length;
        shares.change(caller, part.length);
        if (sizeBytes > maxBytes) throw refused(withoutWorkspace());
        head?.push(part);
        if (!head || sizeBytes <= uncheckedMaxBytes) return undefined;
        const bytes = Buffer.concat(head);
        head = undefined;
        return check(context, bytes).catch((error) => Promise.reject(refused(error)));
      },
    };
  };
}

function tooMuch(verdict: 'caller' | 'all'): ConnectError {
  return verdict === 'caller'
    ? retryLater('too many large messages at once', Code.ResourceExhausted, retryDefaultMs)
    : retryLater('the service is busy', Code.Unavailable, retryDefaultMs);
}

function withoutWorkspace(): ConnectError {
  const text = `the workspace must be among the first ${uncheckedMaxBytes} bytes of a message this large`;
  return new ConnectError(text, Code.ResourceExhausted);
}

/**
 * The workspace, as a message has it that begins like this. Empty where the method has none, and
 * undefined where it does not come so early: libraries write fields by their numbers, and that of
 * the workspace is a low one.
 */
function workspaceAt(
  method: DescMethod,
  headers: IncomingHttpHeaders,
  bytes: Buffer,
): Record<string, string> | undefined {
  const rule = operationOf(method)?.access?.rule.case;
  if (rule !== 'member' && rule !== 'owner') return {};
  const name = operationOf(method)?.workspaceField || 'workspaceId';
  const field = method.input.fields.find(({ localName }) => localName === name);
  if (!field) return undefined;
  const type = headers['content-type'] ?? '';
  const value = /json/.test(type)
    ? textIn(bytes.toString(), [field.name, field.jsonName])
    : fieldIn(bytes.subarray(/grpc/.test(type) ? envelopeBytes : 0), field.number);
  return value === undefined ? undefined : { [name]: value };
}

/** Before a message of gRPC: whether it is compressed, and its length. */
const envelopeBytes = 5;

function fieldIn(bytes: Uint8Array, number: number): string | undefined {
  const reader = new BinaryReader(bytes);
  try {
    while (reader.pos < reader.len) {
      const [found, wireType] = reader.tag();
      if (found === number) return reader.string();
      reader.skip(wireType);
    }
  } catch {
    // The field that the bytes break off in is another one.
  }
  return undefined;
}

/**
 * A field of the same name that stands deeper may be found in its place; the whole message is
 * checked as well.
 */
function textIn(json: string, names: readonly string[]): string | undefined {
  return new RegExp(`"(?:${names.join('|')})"\\s*:\\s*"([^"\\\\]*)"`).exec(json)?.[1];
}

/** The request of a call that the library reads. */
export class ArrivingRequest extends Http2ServerRequest {
  readonly arrival: Arrival;
  readonly #holdMaxBytes: number;

  /** `holdMaxBytes` of a message wait for its end. */
  constructor(
    arrival: Arrival,
    holdMaxBytes: number,
    given: { stream: ServerHttp2Stream; headers: IncomingHttpHeaders; rawHeaders: string[] },
  ) {
    super(given.stream, given.headers, {}, given.rawHeaders);
    this.arrival = arrival;
    this.#holdMaxBytes = holdMaxBytes;
  }

  /**
   * The library makes room for the whole of a message as soon as its length is known, so it sees a
   * message once all of it is here. One that is too large is passed on to be refused.
   */
  override async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    const parts = { [Symbol.asyncIterator]: () => super[Symbol.asyncIterator]() };
    const held: Buffer[] = [];
    let heldBytes = 0;
    for await (const part of parts) {
      await this.arrival.take(part);
      held.push(part);
      heldBytes += part.length;
      if (heldBytes <= this.#holdMaxBytes) continue;
      yield* held;
      held.length = 0;
    }
    yield* held;
  }
}
