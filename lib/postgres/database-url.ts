import { accessSync, constants } from 'node:fs';
import { resolve } from 'node:path';

const modes = ['disable', 'require', 'verify-ca', 'verify-full'];
const files = ['sslrootcert', 'sslcert', 'sslkey'];

/**
 * A database's URL in the form that every connection must use. `sslmode`, `sslrootcert` (the
 * authority's certificate),
 * `sslcert` and `sslkey` mean what they mean to PostgreSQL's own programs, but `prefer` is refused:
 * with it, it would be unclear whether TLS is used. Throws for settings that cannot work.
 */
export function connectionStringOf(databaseUrl: string): string {
  const url = parse(databaseUrl);
  const mode = url.searchParams.get('sslmode');
  const given = files.filter((name) => url.searchParams.has(name));
  if (mode === null && given.length === 0) return databaseUrl;
  if (mode !== null && !modes.includes(mode)) {
    const known = 'disable, require, verify-ca or verify-full';
    throw new Error(`the database URL's sslmode must be ${known}, not ${mode}`);
  }
  if (mode === 'verify-ca' && !given.includes('sslrootcert')) {
    throw new Error("the database URL's sslmode=verify-ca needs sslrootcert");
  }
  for (const name of given) {
    const path = resolve(url.searchParams.get(name) ?? '');
    requireFile(name, path);
    url.searchParams.set(name, path);
  }
  // Without it, the driver reads `require` as `verify-full`.
  url.searchParams.set('uselibpqcompat', 'true');
  return url.href;
}

/** Adds settings to those that the URL's connections begin with. */
function withSettings(databaseUrl: string, settings: readonly string[]): string {
  const url = new URL(databaseUrl);
  const given = url.searchParams.get('options');
  const added = settings.map((each) => `-c ${each}`).join(' ');
  url.searchParams.set('options', given ? `${given} ${added}` : added);
  return url.href;
}

/**
 * Adds the settings that provisioning gives the role of each service
 * (deploy/postrider/provision.ts), for a role that all services share. A pooler refuses such
 * connections: it needs a role for each service.
 */
export function inSchema(databaseUrl: string, schema: string): string {
  return withSettings(databaseUrl, [
    `search_path=${schema}`,
    'statement_timeout=15s',
    'idle_in_transaction_session_timeout=30s',
  ]);
}

function parse(databaseUrl: string): URL {
  if (!/^postgres(ql)?:/.test(databaseUrl) || !URL.canParse(databaseUrl)) {
    throw new Error('the database URL must be like postgresql://user:password@host:5432/database');
  }
  return new URL(databaseUrl);
}

function requireFile(name: string, path: string): void {
  try {
    accessSync(path, constants.R_OK);
  } catch {
    throw new Error(`the database URL's ${name}: ${path} cannot be read`);
  }
}
