import { once } from 'node:events';
import { createServer, type Http2Server } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import {
  type Code,
  ConnectError,
  type ConnectRouter,
  type HandlerContext,
  type Interceptor,
  type Transport,
} from '@connectrpc/connect';
import { connectNodeAdapter, createConnectTransport } from '@connectrpc/connect-node';
import { RetryInfoSchema } from '#gen/google/rpc/error_details_pb.ts';
import { AudienceService } from '#gen/postrider/contacts/v1/audience_pb.ts';
import { SubscriptionService } from '#gen/postrider/contacts/v1/subscriptions_pb.ts';
import { createLog } from '#lib/log.ts';
import { connectTo } from '#lib/rpc/client/client.ts';
import {
  callRules,
  type RunningService,
  type ServiceOptions,
  serve,
} from '#lib/rpc/server/serve.ts';
import { binaryOptions, messageMaxBytes } from '#lib/rpc/wire.ts';
import { keyring, ownerEverywhere, serviceClaims } from '../../test/setup/service.ts';

/** Options of every service here. */
export const options = {
  keyring,
  authorize: ownerEverywhere,
  demo: false,
  reflection: true,
  log: createLog('test', 'silent'),
};
/** The waiting calls, by the name in their request. */
const waiting = new Map<string, PromiseWithResolvers<void>>();
export const seen: string[] = [];

/** A name by which a test can see that the call waits, and that it ended. */
export function givenWait() {
  const name = `wait:${crypto.randomUUID()}`;
  const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  waiting.set(name, begun).set(`${name} ended`, ended);
  return { name, begun: begun.promise, ended: ended.promise };
}

/** An operation that does what its request says. */
async function obey({ listId: wish }: { listId: string }, call: HandlerContext) {
  seen.push(wish);
  const [verb, detail = ''] = wish.split(':');
  if (verb === 'fail') throw failure(Number(detail));
  if (verb === 'huge') return { emails: ['x'.repeat(messageMaxBytes)] };
  if (verb === 'wait') {
    waiting.get(wish)?.resolve();
    await new Promise((_, leave) => {
      call.signal.addEventListener('abort', () => leave(call.signal.reason));
    }).finally(() => waiting.get(`${wish} ended`)?.resolve());
  }
  call.responseHeader.set('x-told', call.requestHeader.get('x-asked') ?? '');
  call.responseTrailer.set('x-after', 'all');
  return { emails: [wish] };
}

const failure = (code: Code) =>
  new ConnectError(`it is ${code} – naïve`, code, { 'x-why': 'because' }, [
    { desc: RetryInfoSchema, value: { retryDelay: { seconds: 7n } } },
  ]);

const routes = (router: ConnectRouter) =>
  router
    .service(AudienceService, { listAudience: obey })
    .service(SubscriptionService, { subscribe: () => ({ success: true }) });

const close: (() => unknown)[] = [];

/** Ends every server that was started here. */
export const closeAll = () => Promise.all(close.map((end) => end()));

export async function serveObedient(
  port = 0,
  more: Partial<ServiceOptions> = {},
): Promise<RunningService> {
  const isReady = async () => true;
  const service = await serve(
    { ...options, services: [AudienceService, SubscriptionService], routes, isReady, ...more },
    { host: '127.0.0.1', port },
  );
  close.push(service.drain);
  return service;
}

export const servers = {
  lean: async () => (await serveObedient()).port,
  stock: () =>
    listen(
      createServer(
        connectNodeAdapter({
          routes,
          ...callRules(options),
          binaryOptions,
          readMaxBytes: messageMaxBytes,
          writeMaxBytes: messageMaxBytes,
        }),
      ),
    ),
} satisfies Record<string, () => Promise<number>>;

let token: Promise<string> | undefined;
/** The same for all calls of a file, as a service uses a token for many calls. */
export async function authorization(): Promise<string> {
  token ??= keyring.signToken(serviceClaims, 600);
  return `Bearer ${await token}`;
}
const withToken: Interceptor = (next) => async (request) => {
  request.header.set('authorization', await authorization());
  return next(request);
};

export const transports = {
  lean: (port) => connectTo(`127.0.0.1:${port}`, { authorization }),
  stock: (port) =>
    createConnectTransport({
      httpVersion: '2',
      baseUrl: `http://127.0.0.1:${port}`,
      interceptors: [withToken],
      binaryOptions,
      readMaxBytes: messageMaxBytes,
      nodeOptions: { maxSessionMemory: 512 },
    }),
} satisfies Record<string, (port: number) => Transport>;

export async function listen(server: Http2Server | Server): Promise<number> {
  if ('on' in server) server.on('session', (session) => close.push(() => session.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  close.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

export const request = (listId: string) => ({ workspaceId: 'w1', listId, pageSize: 10 });
