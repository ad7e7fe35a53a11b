import { readFileSync } from 'node:fs';
import { parseYaml } from '@redocly/openapi-core';

export type Condition = 'service_started' | 'service_healthy' | 'service_completed_successfully';

/** One container of an installation. */
export type Container = {
  name: string;
  /** Whether it runs the program of the image that is built here. */
  isOurs: boolean;
  command: string[];
  environment: Record<string, string>;
  /** Names of the files that it finds in `secretsFolder`. */
  secrets: string[];
  secretsFolder: string;
  dependsOn: Record<string, Condition>;
};

type Written = {
  build?: object;
  entrypoint?: string[];
  command?: string[];
  environment?: Record<string, string>;
  secrets?: string[];
  depends_on?: Record<string, { condition: Condition }>;
};

/**
 * The services of a compose file, with the variables of `.env` filled in. Knows what this project's
 * file uses of the specification.
 */
export function readCompose(file: string, dotEnv: Record<string, string>): Container[] {
  const { services } = parseYaml(readFileSync(file, 'utf8')) as {
    services: Record<string, Written>;
  };
  return Object.entries(services).map(([name, written]) => ({
    name,
    isOurs: written.build !== undefined && written.entrypoint === undefined,
    command: written.command ?? [],
    environment: mapValues(written.environment ?? {}, (value) => interpolate(value, dotEnv)),
    secrets: written.secrets ?? [],
    secretsFolder: '/run/secrets',
    dependsOn: mapValues(written.depends_on ?? {}, ({ condition }) => condition),
  }));
}

/** `${NAME:-default}`, `${NAME-default}`, `${NAME:+other}`, and `$$` for a dollar. */
function interpolate(text: string, values: Record<string, string>): string {
  return text.replace(
    /\$\$|\$\{(\w+)(?:(:?)([-+])([^}]*))?\}/g,
    (all, name?: string, colon = '', sign = '-', fallback = '') => {
      if (name === undefined) return all.slice(1);
      const value = values[name];
      if (sign === '+') return value ? fallback : '';
      return value === undefined || (colon !== '' && value === '') ? fallback : value;
    },
  );
}

function mapValues<From, To>(
  record: Record<string, From>,
  map: (value: From) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
