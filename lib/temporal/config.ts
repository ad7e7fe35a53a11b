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
  const server = {
    address: variables.text('TEMPORAL_ADDRESS', {
      about: 'The frontend of Temporal, `host:port`.',
    }),
    namespace: variables.text('TEMPORAL_NAMESPACE', {
      fallback: 'default',
      about: 'Its namespace.',
    }),
  };
  const apiKey = variables.secret('TEMPORAL_API_KEY', {
    fallback: '',
    about: 'The key of Temporal Cloud; with it, TLS is on.',
  });
  const tls = readTls(variables);
  const given = Object.entries({ TEMPORAL_API_KEY: apiKey, ...tls });
  const set = Object.fromEntries(given.filter(([, value]) => value !== ''));
  return variables.derived(() => ({ ...server, ...connectionOf(set) })) ?? server;
}

function readTls(variables: Variables): Record<string, string> {
  const read = (name: string, about: string) => ({
    [name]: variables.text(name, { fallback: '', about }),
  });
  return {
    ...read(
      'TEMPORAL_TLS',
      '`true` for TLS by the authorities that Node knows; the files below turn it on, too.',
    ),
    ...read(
      'TEMPORAL_TLS_SERVER_NAME',
      'The name in the server\u2019s certificate, where it is not that of the address.',
    ),
    ...read(
      'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
      'A file: the authority of the server\u2019s certificate.',
    ),
    ...read(
      'TEMPORAL_TLS_CLIENT_CERT_PATH',
      'A file: our certificate, for servers that ask for one.',
    ),
    ...read('TEMPORAL_TLS_CLIENT_KEY_PATH', 'A file: the key of that certificate.'),
  };
}

/** Settings that a service with workflows and its worker share. */
export type WorkflowConfig = {
  temporal: TemporalServer;
  /** The version of the worker for Temporal's worker versioning; empty if it is not used. */
  buildId: string;
  /** Folder in which the worker keeps the bundle of workflows. */
  cacheFolder: string;
};

export function readWorkflows(variables: Variables): WorkflowConfig {
  return {
    temporal: readTemporal(variables),
    buildId: readBuildId(variables),
    cacheFolder: variables.text('CACHE_FOLDER', {
      fallback: '.postrider/cache',
      about: 'Where workers keep the bundle of workflows.',
    }),
  };
}

const buildIdForm = /^[\w.-]{0,128}$/;

function readBuildId(variables: Variables): string {
  const given = variables.text('WORKER_BUILD_ID', {
    fallback: '',
    unset: 'no versioning',
    about:
      'Turns on worker versioning: the build of a worker in its deployment (`postrider-broadcasts`, `postrider-contacts`, `postrider-webhooks`). It takes no run before it is made the current version. At most 128 letters, digits and `._-`.',
  });
  variables.derived(() => {
    if (!buildIdForm.test(given)) {
      throw new Error('WORKER_BUILD_ID must be at most 128 letters, digits and ._-');
    }
  });
  return given;
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
