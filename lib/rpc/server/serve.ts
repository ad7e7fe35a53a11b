import { Http2ServerResponse, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { DescMethod, DescService } from '@bufbuild/protobuf';
import {
  Code,
  ConnectError,
  type ConnectRouter,
  createContextValues,
  type HandlerContext,
  type Interceptor,
} from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { Health } from '#gen/grpc/health/v1/health_pb.ts';
import { ServerReflection } from '#gen/grpc/reflection/v1/reflection_pb.ts';
import { ServerReflection as ServerReflectionAlpha } from '#gen/grpc/reflection/v1alpha/reflection_pb.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import { noLimits, RequestLimits } from '#lib/limits/request-limits.ts';
import type { Log } from '#lib/log.ts';
import type { ServerTls } from '../tls.ts';
import {
  binaryOptions,
  messageMaxBytes,
  peerAddressHeader,
  publicMessageMaxBytes,
} from '../wire.ts';
import {
  type Authorize,
  accessCheck,
  accessInterceptor,
  cachedAuthorize,
  isPublic,
  tokenGate,
} from './access.ts';
import { ArrivingRequest, arrivalKey, arrivals, messagesMaxBytes } from './arrivals.ts';
import { type Audit, auditInterceptor } from './audit.ts';
import {
  cutDeadline,
  deadlineDefaultMs,
  defaultDeadline,
  statementsEndWithCall,
} from './deadline.ts';
import { errorInterceptor } from './errors.ts';
import { healthRoutes, type IsServing } from './health.ts';
import {
  discardRest,
  listen,
  openServer,
  resetsOfMany,
  type ServerLimits,
  serverLimits,
  serveStreams,
} from './http2.ts';
import { answerKeys } from './idempotency.ts';
import { admitStreams, endUnlessSent, type StreamLimits, streamLimits } from './lasting-streams.ts';
import { heavyInterceptor, limitedGate, limitInterceptor } from './limits.ts';
import { reflectionRoutes } from './reflection.ts';
import { loggedGate, requestLog } from './request-log.ts';
import { unaryServer } from './unary.ts';
import { validationInterceptor } from './validation.ts';

const drainMaxMs = 10_000;

export type ServiceOptions = {
  services: readonly DescService[];
  routes: (router: ConnectRouter) => void;
  keyring: Keyring;
  authorize: Authorize;
  demo: boolean;
  log: Log;
  /** Records audited operations; nothing is recorded if absent. */
  audit?: Audit;
  /** Limits of requests; none if absent. */
  limits?: RequestLimits;
  /** The certificate; without it the service speaks plain HTTP/2. */
  tls?: ServerTls;
  /** Whether clients may list and describe the services. */
  reflection: boolean;
  /** How many streams may stay open, and how long; `streamLimits` if absent. */
  streamLimits?: StreamLimits;
  /** Bytes of the messages of all callers at one time; `messagesMaxBytes` if absent. */
  messagesMaxBytes?: number;
  /** In place of some of `serverLimits`. */
  serverLimits?: Partial<ServerLimits>;
  /** Whether required dependencies are reachable. */
  isReady(): Promise<boolean>;
};

type CallOptions = Pick<
  ServiceOptions,
  'authorize' | 'audit' | 'demo' | 'keyring' | 'limits' | 'log'
>;

/**
 * The rules for every call of every service: the gate, before its message is read, and then the
 * interceptors, outermost first: log, errors, deadline, access, keys, limits, turns, connections,
 * validation, audit.
 */
export function callRules({ authorize, audit, demo, keyring, log, ...given }: CallOptions) {
  const { limits = new RequestLimits(noLimits) } = given;
  const access = accessCheck({ authorize: cachedAuthorize(authorize), demo });
  const gate = loggedGate(log, limitedGate(tokenGate(keyring), limits));
  const interceptors: Interceptor[] = [
    onlyOurs(requestLog(log)),
    errorInterceptor(log),
    defaultDeadline(deadlineDefaultMs),
    accessInterceptor(access),
    answerKeys(keyring),
    limitInterceptor(limits),
    heavyInterceptor(),
    statementsEndWithCall,
    onlyOurs(validationInterceptor),
    onlyOurs(auditInterceptor(audit)),
  ];
  const requestGate = async (context: HandlerContext) => {
    await gate(context);
    context.values.get(arrivalKey)?.begin(context);
  };
  return { access, requestGate, interceptors };
}

/** Health and reflection have streams, and no access rules. */
function onlyOurs(interceptor: Interceptor): Interceptor {
  return (next) => {
    const guarded = interceptor(next);
    return (request) =>
      request.service.typeName.startsWith('postrider.') ? guarded(request) : next(request);
  };
}

export type RunningService = {
  port: number;
  /** Health answers NOT_SERVING from now on; calls are still accepted. */
  retire(): void;
  drain(): Promise<void>;
};

/**
 * Serves gRPC, gRPC-Web and Connect over h2c or TLS on one port, with health and reflection.
 * Draining answers NOT_SERVING first, lets calls in flight end, and then closes.
 */
export async function serve(
  options: ServiceOptions,
  address: { host: string; port: number },
): Promise<RunningService> {
  const [draining, shutdown] = [new AbortController(), new AbortController()];
  const isReady = sharedBetweenCallers(options.isReady);
  const isServing = async () => !draining.signal.aborted && (await isReady());
  const limits = { ...serverLimits, ...options.serverLimits };
  const opening = { resets: resetsOfMany, headersMaxBytes: limits.headersMaxBytes };
  const server = openServer(options.tls, opening);
  const state = { isServing, draining: draining.signal, shutdownSignal: shutdown.signal };
  const connections = serveStreams(server, limits, streamHandler(options, state));
  const port = await listen(server, address);
  return {
    port,
    retire: () => draining.abort(),
    async drain() {
      draining.abort();
      const closed = new Promise<void>((done) => server.close(() => done()));
      connections.close();
      const timer = setTimeout(() => {
        shutdown.abort(new ConnectError('the service is shutting down', Code.Unavailable));
        connections.destroy();
      }, drainMaxMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

/** The database is checked once at a time, for any number of watches. */
function sharedBetweenCallers(ask: () => Promise<boolean>): () => Promise<boolean> {
  let asked: Promise<boolean> | undefined;
  return () => {
    asked ??= ask().finally(() => {
      asked = undefined;
    });
    return asked;
  };
}

type State = { isServing: IsServing; draining: AbortSignal; shutdownSignal: AbortSignal };

/** Unary Connect calls are answered by `unary.ts`, all others by the library. */
function streamHandler(options: ServiceOptions, state: State) {
  const names = options.services.map(({ typeName }) => typeName);
  const { access, ...rules } = callRules(options);
  const arrive = arrivals(access, options.messagesMaxBytes ?? messagesMaxBytes);
  const limits = options.streamLimits ?? streamLimits;
  const shared = {
    routes(router: ConnectRouter) {
      options.routes(router);
      healthRoutes(names, state)(router);
      // Tools without proto files need the description of health as well.
      if (options.reflection) reflectionRoutes([...options.services, Health])(router);
    },
    ...rules,
    shutdownSignal: state.shutdownSignal,
  };
  const shape = { writeMaxBytes: messageMaxBytes, acceptCompression: [], binaryOptions };
  const reading = (readMaxBytes: number) =>
    connectNodeAdapter({ ...shared, ...shape, contextValues, readMaxBytes });
  // The library has one limit for all methods of an adapter.
  const [everything, open] = [reading(messageMaxBytes), reading(publicMessageMaxBytes)];
  const isOpen = new Set([...pathsOf(options.services, isPublic), ...pathsOf(streaming)]);
  const unary = unaryServer({ ...shared, arrive, arrivalMaxMs: limits.messageMaxMs });
  const isLasting = new Set(pathsOf(streaming, ({ methodKind }) => methodKind !== 'unary'));
  const admit = admitStreams(limits);
  return (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, ...rest: unknown[]) => {
    headers[peerAddressHeader] = stream.session?.socket.remoteAddress ?? '';
    cutDeadline(headers);
    if (unary(stream, headers)) return;
    const path = pathOf(headers);
    if (!isLasting.has(path)) endUnlessSent(stream, limits.messageMaxMs);
    else if (!admit(stream)) return;
    const rawHeaders = Array.isArray(rest[1]) ? rest[1] : [];
    const messageMax = isOpen.has(path) ? publicMessageMaxBytes : messageMaxBytes;
    const holdMaxBytes = isLasting.has(path) ? 0 : messageMax;
    const given = { stream, headers, rawHeaders };
    const request = new ArrivingRequest(arrive(stream, headers), holdMaxBytes, given);
    stream.once('finish', () => discardRest(stream));
    const adapter = isOpen.has(path) ? open : everything;
    adapter(request, new Http2ServerResponse(stream));
  };
}

const contextValues = (request: unknown) =>
  createContextValues().set(
    arrivalKey,
    request instanceof ArrivingRequest ? request.arrival : undefined,
  );

const streaming = [Health, ServerReflection, ServerReflectionAlpha];

function pathsOf(
  services: readonly DescService[],
  wanted: (method: DescMethod) => boolean = () => true,
) {
  const methods = services.flatMap((service) => service.methods).filter(wanted);
  return methods.map(({ parent, name }) => `/${parent.typeName}/${name}`);
}

function pathOf({ ':path': path = '' }: IncomingHttpHeaders): string {
  return path.split('?', 1)[0] ?? '';
}
