import { onTermination } from '#lib/process/termination.ts';
import { createGateway, type GatewayOptions } from './server.ts';

type RunOptions = Omit<GatewayOptions, 'callTimeoutMs' | 'requestTimeoutMs'> & {
  host: string;
  port: number;
  /** Sends the data that the last requests have left, such as opens and clicks. */
  close(): Promise<void>;
};

const callTimeoutMs = 30_000;
const requestTimeoutMs = 30_000;
const drainMaxMs = 10_000;

/** Serves until SIGTERM or SIGINT; then finishes the requests in progress. */
export function runGateway(options: RunOptions): void {
  const { log, host, port, close } = options;
  const { server, drain } = createGateway({ ...options, callTimeoutMs, requestTimeoutMs });
  server.once('error', (error) => {
    log.fatal({ err: error, port }, 'cannot listen');
    process.exitCode = 1;
  });
  server.listen(port, host, () => {
    log.info({ port }, 'ready');
    process.send?.('ready');
  });
  onTermination(log, async () => {
    await drain(drainMaxMs);
    await close();
  });
}
