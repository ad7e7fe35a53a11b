import type { Variables } from '#lib/env.ts';
import { readProcess } from '#lib/process/config.ts';

/** The settings of a process of the program, whatever it runs. */
export function readProgram(variables: Variables) {
  return {
    port: variables.integer('HEALTH_PORT', {
      fallback: 0,
      from: 0,
      to: 65_535,
      about:
        'A port for `/healthz` (200 while the process runs) and `/readyz` (200, or 503 with what is missing), in plain HTTP; `0` for none.',
    }),
    shutdownDelayMs:
      1_000 *
      variables.integer('SHUTDOWN_DELAY_SECONDS', {
        fallback: 1,
        from: 0,
        to: 60,
        about:
          'How long a service or the gateway serves on after SIGTERM while its health says that it goes: a little longer than a load balancer takes to notice.',
      }),
    ...readProcess(variables),
  };
}

export const superuserVariable = 'SUPERUSER_DATABASE_URL';

export function readSuperuserUrl(variables: Variables): string {
  return variables.secret(superuserVariable, {
    unset: 'no `--provision`',
    about:
      'For `--provision` alone: an account that may make databases and roles. The passwords of the new roles are those of the other URLs.',
  });
}
