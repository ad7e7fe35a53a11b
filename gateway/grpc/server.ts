import {
  Http2ServerRequest,
  Http2ServerResponse,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { DescFile } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { Health } from '#gen/grpc/health/v1/health_pb.ts';
import { refusal } from '#lib/errors/reasons.ts';
import type { Log } from '#lib/log.ts';
import { invalidToken } from '#lib/rpc/bearer.ts';
import { type Connection, connectionTo } from '#lib/rpc/client/connection.ts';
import type { Authorization } from '#lib/rpc/client/transport.ts';
import { cutDeadline } from '#lib/rpc/server/deadline.ts';
import { healthRoutes } from '#lib/rpc/server/health.ts';
import {
  discardRest,
  headersMaxBytes,
  listen,
  openServer,
  resetsOfClients,
  resetsOfMany,
  serveStreams,
} from '#lib/rpc/server/http2.ts';
import { admitStreams, endUnlessSent, streamLimits } from '#lib/rpc/server/lasting-streams.ts';
import { reflectionRoutes } from '#lib/rpc/server/reflection.ts';
import type { ClientTls, ServerTls } from '#lib/rpc/tls.ts';
import { clientAddressHeader, clientAddressTokenHeader } from '#lib/rpc/wire.ts';
import { callServed } from '#lib/telemetry/calls.ts';
import { CallAdmission, type CallLimits } from '../admission/calls.ts';
import type { PresentedToken } from '../api/token.ts';
import { type ClientAddress, clientAddressBehind } from '../http/client-address.ts';
import { Refusal } from '../http/refusal.ts';
import { type OpenMethod, openMethods, openServices } from './methods.ts';
import { passedHeaders, refuse, relay } from './relay.ts';

export type GrpcOptions = CallLimits & {
  contracts: readonly DescFile[];
  /** Addresses of a service's processes, by the service's name. */
  addresses: ReadonlyMap<string, readonly string[]>;
  clientTls: ClientTls | undefined;
  tls: ServerTls | undefined;
  /** The gateway's own token, which vouches for the client's address. */
  authorization: Authorization;
  /** The user or key of a caller. Throws where the header has no token of either. */
  requireToken(given: PresentedToken): Promise<string>;
  reflection: boolean;
  log: Log;
};

export type GrpcGateway = {
  port: number;
  /** Health answers NOT_SERVING from now on; calls are still accepted. */
  retire(): void;
  drain(graceMs: number): Promise<void>;
};

type State = {
  options: GrpcOptions;
  methods: ReadonlyMap<string, OpenMethod>;
  next: (service: string) => Connection;
  admission: CallAdmission;
  clientAddress: ClientAddress;
};

/**
 * One address for the gRPC services: passes calls on as they are, with the client's address, and
 * answers health and reflection itself. The services check everything else, as on their own ports.
 */
export async function serveGrpc(
  options: GrpcOptions,
  address: { host: string; port: number },
): Promise<GrpcGateway> {
  const draining = new AbortController();
  const state: State = {
    options,
    methods: openMethods(options.contracts),
    next: connectionsInTurn(options),
    admission: new CallAdmission(options),
    clientAddress: clientAddressBehind(options.trustedProxies),
  };
  const own = ownServices(options, draining.signal);
  const isBehindProxies = options.trustedProxies.length > 0;
  const resets = isBehindProxies ? resetsOfMany : resetsOfClients;
  const server = openServer(options.tls, { resets, headersMaxBytes });
  const connections = serveStreams(
    server,
    state.admission.serverLimits,
    (stream, headers, ...rest) => {
      const client = state.clientAddress({ headers, socket: stream.session?.socket ?? {} });
      const path = (headers[':path'] ?? '').split('?', 1)[0] ?? '';
      const method = state.methods.get(path);
      if (method) measure(method, stream);
      const refused = overLimit(state.admission, client);
      if (refused) refuse(stream, refused);
      else if (!isGrpc(headers)) refuseOther(stream);
      else if (method) void pass(state, method, { stream, headers, client });
      else if (path.startsWith('/grpc.')) own(stream, headers, rest);
      else refuse(stream, notServed(path));
    },
  );
  const port = await listen(server, address);
  return {
    port,
    retire: () => draining.abort(),
    async drain(graceMs) {
      draining.abort();
      const closed = new Promise<void>((done) => server.close(() => done()));
      connections.close();
      const timer = setTimeout(connections.destroy, graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

const notServed = (path: string) =>
  new ConnectError(`${path.slice(0, 200)} is not served here`, Code.Unimplemented);

/** The refusal of a stream, whatever it asks for. */
function overLimit(admission: CallAdmission, client: string): ConnectError | undefined {
  try {
    admission.countAddress(client);
    return undefined;
  } catch (error) {
    return refusalOf(error);
  }
}

/** A token that is wrong, or one that cannot be checked now, or a limit. */
function refusalOf(error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  const isMissing = error instanceof Refusal && error.failure.reason === 'TOKEN_MISSING';
  const text = error instanceof Error ? error.message : invalidToken;
  return refusal(isMissing ? 'TOKEN_MISSING' : 'TOKEN_INVALID', text);
}

const isGrpc = (headers: IncomingHttpHeaders) =>
  headers['content-type']?.startsWith('application/grpc') === true;

function refuseOther(stream: ServerHttp2Stream): void {
  stream.once('finish', () => discardRest(stream));
  stream.respond({ ':status': 415, 'accept-post': 'application/grpc' }, { endStream: true });
}

type Call = { stream: ServerHttp2Stream; headers: IncomingHttpHeaders; client: string };

async function pass(state: State, method: OpenMethod, call: Call): Promise<void> {
  const { stream, headers, client } = call;
  const { admission } = state;
  const { authorization, requireToken, log } = state.options;
  try {
    admission.begin(client, stream);
    const given = { authorization: headers.authorization, clientAddress: client };
    if (!method.isPublic) admission.countCaller(await requireToken(given));
  } catch (error) {
    return refuse(stream, refusalOf(error));
  }
  try {
    const token = await authorization();
    if (stream.destroyed) return;
    endUnlessSent(stream, admission.messageMaxMs);
    const vouched = method.isPublic ? 'authorization' : clientAddressTokenHeader;
    relay(stream, state.next(method.service), {
      ...passedHeaders(headers),
      [clientAddressHeader]: client,
      [vouched]: token,
    });
  } catch (error) {
    log.error({ err: error }, 'a gRPC call was not passed on');
    refuse(stream, new ConnectError('internal error', Code.Internal));
  }
}

/** A call without a status was left, or cut. */
function measure({ method }: OpenMethod, stream: ServerHttp2Stream): void {
  const startedAtMs = performance.now();
  stream.once('close', () => {
    const { sentHeaders, sentTrailers } = stream;
    const status = Number(sentTrailers?.['grpc-status'] ?? sentHeaders?.['grpc-status'] ?? -1);
    const code = Code[status] === undefined ? Code.Canceled : status;
    callServed(method, startedAtMs, status === 0 ? undefined : code);
  });
}

/** Health of the gateway itself, and reflection of what it passes on. */
function ownServices({ contracts, reflection }: GrpcOptions, draining: AbortSignal) {
  const services = openServices(contracts);
  const names = services.map(({ typeName }) => typeName);
  const isServing = async () => !draining.aborted;
  const adapter = connectNodeAdapter({
    routes(router) {
      healthRoutes(names, { isServing, draining })(router);
      if (reflection) reflectionRoutes([...services, Health])(router);
    },
    readMaxBytes: 64 * 1024,
  });
  const admit = admitStreams(streamLimits);
  return (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rest: unknown[]) => {
    if (!admit(stream)) return;
    cutDeadline(headers);
    const rawHeaders = Array.isArray(rest[1]) ? rest[1] : [];
    const request = new Http2ServerRequest(stream, headers, {}, rawHeaders);
    adapter(request, new Http2ServerResponse(stream));
  };
}

/** The replicas of a service in turn, each with one connection. */
function connectionsInTurn({ addresses, clientTls: tls }: GrpcOptions) {
  const known = new Map(
    [...addresses].map(([service, replicas]) => [
      service,
      { turn: 0, replicas: replicas.map((address) => connectionTo(address, { tls })) },
    ]),
  );
  return (service: string): Connection => {
    const found = known.get(service);
    const connection = found?.replicas[found.turn++ % found.replicas.length];
    if (!connection) throw new Error(`no address for ${service}`);
    return connection;
  };
}
