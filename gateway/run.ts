import { onTermination } from '#lib/process/termination.ts';
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

/** Serves until SIGTERM or SIGINT; then finishes the requests in progress. */
export async function runGateway(options: RunOptions): Promise<void> {
  const { log, host, port, grpcPort, close } = options;
  const { server, drain } = createGateway({ ...options, callTimeoutMs, requestTimeoutMs });
  server.once('error', (error) => {
    log.fatal({ err: error, port }, 'cannot listen');
    process.exitCode = 1;
  });
  const grpc = grpcPort === undefined ? undefined : await options.openGrpc(grpcPort);
  server.listen(port, host, () => {
    log.info({ port, grpcPort }, 'ready');
    process.send?.('ready');
  });
  onTermination(log, async () => {
    await Promise.all([drain(drainMaxMs), grpc?.drain(drainMaxMs)]);
    await close();
  });
}
