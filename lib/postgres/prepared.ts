import { createHash } from 'node:crypto';
import type { ClientBase, Pool, PoolClient } from 'pg';

const mark = '/* prepared */ ';
const preparedMax = 100;

/**
 * Marks the text of a frequent statement: PostgreSQL plans it once for each connection, and
 * keeps the plan while tables grow. So its best plan must not depend on their size, it must not
 * select
 * `*`, and its text must be one of a few.
 */
export function prepared(text: string): string {
  return mark + text;
}

/** Makes a pool's connections prepare marked texts by name, inside and outside of transactions. */
export function prepareMarked(
  pool: Pool,
  mayPrepare: (client: ClientBase) => boolean = () => true,
): void {
  const names = new Map<string, string>();
  pool.on('connect', (client: PoolClient) => {
    if (!mayPrepare(client)) return;
    const query = client.query.bind(client);
    const queryByName = (first: unknown, ...rest: unknown[]) => {
      if (typeof first !== 'string' || !first.startsWith(mark)) {
        return Reflect.apply(query, client, [first, ...rest]);
      }
      return Reflect.apply(query, client, [{ name: nameOf(names, first), text: first }, ...rest]);
    };
    Object.assign(client, { query: queryByName });
  });
}

/**
 * A name of its own for each text, the same in all processes: some poolers let them share
 * connections and what is prepared there.
 */
function nameOf(names: Map<string, string>, text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  if (names.size >= preparedMax) throw new Error('too many texts to prepare');
  const name = `prepared ${createHash('sha256').update(text).digest('base64url').slice(0, 32)}`;
  names.set(text, name);
  return name;
}
