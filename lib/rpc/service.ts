import {
  createServer,
  type Http2Server,
  Http2ServerRequest,
  Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import type { DescService } from '@bufbuild/protobuf';
import { Code, ConnectError, type ConnectRouter, type Interceptor } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { Health } from '#gen/grpc/health/v1/health_pb.ts';
import type { Log } from '#lib/log.ts';
import type { Keyring } from '#lib/tokens.ts';
import { type Authorize, accessInterceptor, cachedAuthorize, tokenGate } from './access.ts';
import { deadlineDefaultMs, defaultDeadline, statementsEndWithCall } from './deadline.ts';
import { errorInterceptor } from './errors.ts';
import { healthRoutes } from './health.ts';
import { reflectionRoutes } from './reflection.ts';
import { requestLog } from './request-log.ts';
import { unaryServer } from './unary-server.ts';
import { validationInterceptor } from './validation.ts';
import { binaryOptions, messageMaxBytes } from './wire.ts';

const streamsPerConnectionMax = 1_000;
/** What may wait to be sent on one connection; more calls are refused meanwhile. */
const waitingMaxMb = 256;
const timeoutMaxMs = 10 * 60_000;
const drainMaxMs = 10_000;

export type ServiceOptions = {
  services: readonly DescService[];
  routes: (router: ConnectRouter) => void;
  keyring: Keyring;
  authorize: Authorize;
  demo: boolean;
  log: Log;
  /** Whether what the service can't do without is there. */
  isReady(): Promise<boolean>;
};

/** The interceptors of every service, outermost first: log, errors, deadline, access, validation. */
export function serviceInterceptors(
  options: Pick<ServiceOptions, 'authorize' | 'demo' | 'log'>,
): Interceptor[] {
  return [
    onlyOurs(requestLog(options.log)),
    errorInterceptor(options.log),
    defaultDeadline(deadlineDefaultMs),
    statementsEndWithCall,
    accessInterceptor({ authorize: cachedAuthorize(options.authorize), demo: options.demo }),
    onlyOurs(validationInterceptor),
  ];
}

/** Health and reflection are streams without rules of ours. */
function onlyOurs(interceptor: Interceptor): Interceptor {
  return (next) => {
    const guarded = interceptor(next);
    return (request) =>
      request.service.typeName.startsWith('postrider.') ? guarded(request) : next(request);
  };
}

export type RunningService = { port: number; drain(): Promise<void> };

/**
 * Serves gRPC, gRPC-Web and Connect over h2c on one port, with health and reflection. Draining
 * answers NOT_SERVING first, lets what is in flight end, and then closes.
 */
export async function serve(
  options: ServiceOptions,
  address: { host: string; port: number },
): Promise<RunningService> {
  let draining = false;
  const shutdown = new AbortController();
  const isServing = async () => !draining && (await options.isReady());
  const names = options.services.map(({ typeName }) => typeName);
  const shared = {
    routes(router: ConnectRouter) {
      options.routes(router);
      healthRoutes(names, isServing)(router);
      // Tools without proto files ask for health as well.
      reflectionRoutes([...options.services, Health])(router);
    },
    interceptors: serviceInterceptors(options),
    requestGate: tokenGate(options.keyring),
    maxTimeoutMs: timeoutMaxMs,
    shutdownSignal: shutdown.signal,
  };
  const everything = connectNodeAdapter({
    ...shared,
    acceptCompression: [],
    binaryOptions,
    readMaxBytes: messageMaxBytes,
    writeMaxBytes: messageMaxBytes,
  });
  const unary = unaryServer(shared);
  const server = createServer({
    settings: { maxConcurrentStreams: streamsPerConnectionMax },
    maxSessionMemory: waitingMaxMb,
  });
  server.on('stream', (stream, headers, _, rawHeaders) => {
    if (unary(stream, headers)) return;
    const request = new Http2ServerRequest(stream, headers, {}, rawHeaders);
    everything(request, new Http2ServerResponse(stream));
  });
  const sessions = trackSessions(server);
  const port = await listen(server, address);
  return {
    port,
    async drain() {
      draining = true;
      const closed = new Promise<void>((done) => server.close(() => done()));
      for (const session of sessions) session.close();
      const timer = setTimeout(() => {
        shutdown.abort(new ConnectError('the service is shutting down', Code.Unavailable));
        for (const session of sessions) session.destroy();
      }, drainMaxMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

function trackSessions(server: Http2Server): Set<ServerHttp2Session> {
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
    // A peer that breaks the connection is not an error of ours.
    session.on('error', () => session.destroy());
  });
  return sessions;
}

function listen(
  server: Http2Server,
  { host, port }: { host: string; port: number },
): Promise<number> {
  return new Promise((done, fail) => {
    server.once('error', fail);
    server.listen(port, host, () => {
      server.off('error', fail);
      const bound = server.address();
      done(bound && typeof bound === 'object' ? bound.port : port);
    });
  });
}
