import type { Variables } from '#lib/env.ts';
import { connectionStringOf, inSchema } from './database-url.ts';

/** The variable of a service's own database. */
export const databaseVariable = (service: string) => `${service.toUpperCase()}_DATABASE_URL`;
const sharedVariable = 'DATABASE_URL';

/**
 * The URL of a service's database, in the form that connections use: `<NAME>_DATABASE_URL`, or else
 * `DATABASE_URL` with its schema.
 */
export function readDatabaseUrl(variables: Variables, service: string): string {
  const { own, shared } = readGivenUrls(variables, service);
  const name = databaseVariable(service);
  const url = variables.derived(() => {
    if (own !== '') return connectionStringIn(name, own);
    if (shared === '') throw new Error(`${name} is not set, nor is ${sharedVariable}`);
    return inSchema(connectionStringIn(sharedVariable, shared), service);
  });
  return url ?? '';
}

/** Both as they are written; empty where one is not set. */
export function readGivenUrls(
  variables: Variables,
  service: string,
): { own: string; shared: string } {
  const own = variables.secret(databaseVariable(service), {
    fallback: '',
    unset: '`DATABASE_URL`',
    about:
      'PostgreSQL 15 or later, `postgres://user:password@host:port/database?sslmode=verify-full`, with a role that has rights to nothing else. `postrider migrate --provision` makes such roles.',
  });
  return { own, shared: readSharedUrl(variables) };
}

export function readSharedUrl(variables: Variables): string {
  return variables.secret(sharedVariable, {
    fallback: '',
    about:
      'One URL for every service that has none of its own: its role owns the schemas of all, which are named like the services. Simpler, but a leak of it is a leak of everything.',
  });
}

/** The URL that a variable has, in the form that connections use. An error names the variable. */
export function connectionStringIn(name: string, given: string): string {
  try {
    return connectionStringOf(given);
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : error}`);
  }
}
