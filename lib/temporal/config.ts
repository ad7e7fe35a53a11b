import type { ConnectionOptions } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { Variables } from '../env.ts';

/** A Temporal server, or Temporal Cloud, and the namespace there. */
export type TemporalServer = {
  address: string;
  namespace: string;
  tls?: ConnectionOptions['tls'];
  apiKey?: string | undefined;
};

/**
 * By the names of the SDK's own configuration library, which has TLS on as soon as there is an API
 * key.
 */
export function readTemporal(variables: Variables): TemporalServer {
  const TEMPORAL_ADDRESS = variables.text('TEMPORAL_ADDRESS');
  const TEMPORAL_NAMESPACE = variables.text('TEMPORAL_NAMESPACE', 'default');
  const TEMPORAL_API_KEY = variables.secret('TEMPORAL_API_KEY', '');
  const server = { address: TEMPORAL_ADDRESS, namespace: TEMPORAL_NAMESPACE };
  const given = {
    ...textsOf(variables, [
      'TEMPORAL_TLS',
      'TEMPORAL_TLS_SERVER_NAME',
      'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
      'TEMPORAL_TLS_CLIENT_CERT_PATH',
      'TEMPORAL_TLS_CLIENT_KEY_PATH',
    ]),
    ...(TEMPORAL_API_KEY ? { TEMPORAL_API_KEY } : {}),
  };
  return variables.derived(() => ({ ...server, ...connectionOf(given) })) ?? server;
}

const buildIdForm = /^[\w.-]{0,128}$/;

/** The build of a worker, for Temporal's worker versioning; empty if it is not used. */
export function readBuildId(variables: Variables): string {
  const given = variables.text('WORKER_BUILD_ID', '');
  variables.derived(() => {
    if (!buildIdForm.test(given)) {
      throw new Error('WORKER_BUILD_ID must be at most 128 letters, digits and ._-');
    }
  });
  return given;
}

function textsOf(variables: Variables, names: readonly string[]): Record<string, string> {
  const given = names.map((name) => [name, variables.text(name, '')] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== ''));
}

function connectionOf(given: Record<string, string>): Pick<TemporalServer, 'tls' | 'apiKey'> {
  try {
    // A file in the home directory must not decide where a service connects.
    const { connectionOptions } = loadClientConnectConfig({
      disableFile: true,
      overrideEnvVars: given,
    });
    const { tls, apiKey } = connectionOptions;
    if (typeof apiKey === 'function') throw new Error('the key must be a text');
    return { tls: tls ?? null, apiKey };
  } catch (error) {
    throw new Error(`TEMPORAL_TLS: ${error instanceof Error ? error.message : error}`);
  }
}
