import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectRouter } from '@connectrpc/connect';
import { Code, ConnectError } from '@connectrpc/connect';
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from '#gen/grpc/health/v1/health_pb.ts';

const watchIntervalMs = 1_000;

/** Whether the process can do its work now: not draining, and its database answers. */
export type IsServing = () => Promise<boolean>;

/**
 * grpc.health.v1 for every service of the process and for the process itself (the empty name). The
 * last status that a watch gets is NOT_SERVING, when the process drains.
 */
export function healthRoutes(
  services: readonly string[],
  { isServing, draining }: { isServing: IsServing; draining: AbortSignal },
) {
  const statusOf = async (service: string) => {
    if (service !== '' && !services.includes(service)) return undefined;
    return (await isServing()) ? Status.SERVING : Status.NOT_SERVING;
  };
  return (router: ConnectRouter): void => {
    router.service(Health, {
      async check({ service }) {
        const status = await statusOf(service);
        if (status === undefined)
          throw new ConnectError(`unknown service ${service}`, Code.NotFound);
        return { status };
      },
      async *watch({ service }, { signal }) {
        const over = AbortSignal.any([signal, draining]);
        let last: Status | undefined;
        while (true) {
          const isLast = over.aborted;
          const status = (await statusOf(service)) ?? Status.SERVICE_UNKNOWN;
          if (status !== last) yield { status };
          last = status;
          if (isLast) return;
          await sleep(watchIntervalMs, undefined, { signal: over }).catch(() => {});
        }
      },
    });
  };
}
