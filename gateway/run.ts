import { once } from 'node:events';
import { type RunningProcess, ready } from '#lib/process/part.ts';
import type { GrpcGateway } from './grpc/server.ts';
import { createGateway, type GatewayOptions } from './server.ts';

type RunOptions = Omit<GatewayOptions, 'callTimeoutMs' | 'requestTimeoutMs'> & {
  host: string;
  port: number;
  /** The port of gRPC; absent if it has none. */
  grpcPort: number | undefined;
  openGrpc(port: number): Promise<GrpcGateway>;
  /** Sends the data that the last requests have left, such as opens and clicks. */
  close(): Promise<void>;
};

const callTimeoutMs = 30_000;
const requestTimeoutMs = 30_000;
const drainMaxMs = 10_000;

/** Serves until it is stopped; then finishes the requests in progress. */
export async function startGateway(options: RunOptions): Promise<RunningProcess> {
  const { log, host, port, grpcPort, close } = options;
  const { server, retire, drain } = createGateway({ ...options, callTimeoutMs, requestTimeoutMs });
  const grpc = grpcPort === undefined ? undefined : await options.openGrpc(grpcPort);
  await once(server.listen(port, host), 'listening');
  log.info({ port, grpcPort }, 'ready');
  return {
    log,
    readiness: async () => ready,
    retire() {
      retire();
      grpc?.retire();
    },
    async stop() {
      await Promise.all([drain(drainMaxMs), grpc?.drain(drainMaxMs)]);
      await close();
    },
  };
}
