import type { ServerHttp2Stream } from 'node:http2';
import { Code } from '@connectrpc/connect';
import { retryDefaultMs, retryLater } from '#lib/errors/errors.ts';
import type { RequestLimits } from '#lib/limits/request-limits.ts';
import { clientNetwork } from '#lib/networks/client-network.ts';
import { headersMaxBytes, type ServerLimits, serverLimits } from '#lib/rpc/server/http2.ts';
import { streamLimits } from '#lib/rpc/server/lasting-streams.ts';
import { isWithin } from '../http/client-address.ts';
import { Bulkhead } from './bulkhead.ts';
import { limitsDefault } from './limits.ts';

/*
 * Every limit that a call by gRPC passes in the gateway, in the order in which it passes them, with
 * the status beyond it. A stream that is not a call of the API passes 1 and 2.
 *
 * 1 connections, streams, resets, headers   as on every gRPC port: `lib/rpc/server/http2.ts`
 * 2 address rate   streams a second         RESOURCE_EXHAUSTED, RetryInfo, RateLimit
 * 3 calls          in progress, of all      RESOURCE_EXHAUSTED, RetryInfo
 *                  and of an address
 * 4 caller rate    calls a second           RESOURCE_EXHAUSTED, RetryInfo, RateLimit
 * 5 message        time to arrive           the stream is reset
 *
 * The message itself is passed on as it comes, and the service limits its size.
 */

/** Calls at once, which leaves room on each service for those that come by HTTP. */
const callsMax = 1_024;
/** Those of one client address, or of one IPv6 /64. */
const callsPerClientMax = 256;

export type CallLimits = {
  requestLimits: RequestLimits;
  /** Ranges whose `X-Forwarded-For` is trusted. */
  trustedProxies: readonly string[];
  callsPerClientMax?: number;
  /** How long the message of a call may take to arrive. */
  messageMaxMs?: number;
  /** In place of some of the limits of every gRPC port. */
  serverLimits?: Partial<ServerLimits>;
};

export class CallAdmission {
  /** 1: of the port, in place of those of a service. */
  readonly serverLimits: ServerLimits;
  /** 5: how long the message of a call may take to arrive. */
  readonly messageMaxMs: number;
  readonly #rates: RequestLimits;
  readonly #calls: Bulkhead;
  readonly #isProxy: (address: string) => boolean;

  constructor(limits: CallLimits) {
    this.#isProxy = isWithin(limits.trustedProxies);
    this.serverLimits = {
      ...serverLimits,
      max: limitsDefault.connectionsMax,
      barsAddresses: true,
      headersMaxBytes,
      isExempt: this.#isProxy,
      ...limits.serverLimits,
    };
    this.messageMaxMs = limits.messageMaxMs ?? streamLimits.messageMaxMs;
    this.#rates = limits.requestLimits;
    const perCallerMax = limits.callsPerClientMax ?? callsPerClientMax;
    this.#calls = new Bulkhead({ max: callsMax, perCallerMax });
  }

  /** 2: a stream of an address, whatever it asks for. */
  countAddress(address: string): void {
    this.#rates.take('address', address);
  }

  /** 3: until the stream closes. A proxy that names no client stands for many. */
  begin(address: string, stream: ServerHttp2Stream): void {
    const client = clientNetwork(address);
    if (!this.#calls.enter(client, this.#isProxy(address))) throw tooMany();
    stream.once('close', () => this.#calls.leave(client));
  }

  /** 4: once the user or key is known. */
  countCaller(caller: string): void {
    this.#rates.take('key', caller);
  }
}

const tooMany = () => retryLater('too many calls at once', Code.ResourceExhausted, retryDefaultMs);
