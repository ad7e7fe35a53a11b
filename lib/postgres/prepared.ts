/*
 * Preparation: PostgreSQL plans a statement once for each connection, and not in each call.
 *
 * Every text that a pool runs often is prepared by name, in and outside of transactions. From the
 * sixth time on PostgreSQL keeps the plan that suits any values, unless it expects more of plans
 * for the values of each call. It expects ten elements of an array that is a parameter; for a call
 * with one element its own plan seems better each time. `hiddenArray` keeps the length from it.
 *
 * Texts that are made of what a tenant asks for (`plannedEachTime`) are not prepared: they are very
 * many, and connections keep what is prepared until they end. A result's columns must not change
 * while it is prepared, so statements name the columns that they return.
 */

import { createHash } from 'node:crypto';
import type { ClientBase, Pool, PoolClient } from 'pg';
import { LruMap } from '../collections/lru-map.ts';

const mark = '/* prepared */ ';
/** Of a pool. A service has about a hundred frequent texts; each takes memory of connections. */
const preparedMax = 300;
/** Marked texts are constants of the sources. */
const markedMax = 100;
/** Texts that are not prepared are counted among this many. */
const countedMax = 1_000;
const frequentFrom = 3;
const planned = ': planned each time */';
const isStatement = /^\s*(?:select|insert|update|delete|with)\b/i;
/** Lists of parameters have a text for each length; rows of a table may get columns. */
const isUnfit = /\bin \(\$\d+, |\), \(\$|^\s*select (?:\w+\.)?\* from \w/;

/**
 * Marks the text of a statement that is prepared from its first time on: PostgreSQL keeps the plan
 * while tables grow. So its best plan must not depend on their size, it must not select `*`, and
 * its text must be one of a few.
 */
export function prepared(text: string): string {
  return mark + text;
}

/** Marks the text of a statement that is never prepared, and says why. */
export function plannedEachTime(reason: string, text: string): string {
  return `${text} /* ${reason}${planned}`;
}

/** The same for a text with conditions or limits of a caller's own. */
export const composed = (text: string): string =>
  plannedEachTime('made of what a caller asks for', text);

/** SQL of an array that is a parameter, of which PostgreSQL expects ten elements always. */
export const hiddenArray = (parameter: string): string => `(select ${parameter})`;

/** Makes a pool's connections prepare frequent texts by name. */
export function prepareFrequent(
  pool: Pool,
  mayPrepare: (client: ClientBase) => boolean = () => true,
): void {
  const nameOf = frequentNames();
  pool.on('connect', (client: PoolClient) => {
    if (!mayPrepare(client)) return;
    const query = client.query.bind(client);
    const queryByName = (first: unknown, ...rest: unknown[]) => {
      const name = typeof first === 'string' ? nameOf(first) : undefined;
      if (name === undefined) return Reflect.apply(query, client, [first, ...rest]);
      return Reflect.apply(query, client, [{ name, text: first }, ...rest]);
    };
    Object.assign(client, { query: queryByName });
  });
}

/** Answers the name of a text that is to be prepared, and counts the others. */
function frequentNames(): (text: string) => string | undefined {
  const names = new Map<string, string>();
  const counts = new LruMap<number>({ max: countedMax });
  let marked = 0;
  const isToPrepare = (text: string): boolean => {
    if (text.startsWith(mark)) {
      marked += 1;
      if (marked > markedMax) throw new Error('too many texts to prepare');
      return true;
    }
    if (names.size >= preparedMax || text.endsWith(planned)) return false;
    const count = (counts.get(text) ?? 0) + 1;
    counts.set(text, count);
    return count >= frequentFrom && isStatement.test(text) && !isUnfit.test(text);
  };
  return (text) => {
    const known = names.get(text);
    if (known !== undefined || !isToPrepare(text)) return known;
    counts.delete(text);
    const name = newName(text);
    names.set(text, name);
    return name;
  };
}

/**
 * A name of its own for each text, the same in all processes: some poolers let them share
 * connections and what is prepared there.
 */
function newName(text: string): string {
  return `prepared ${createHash('sha256').update(text).digest('base64url').slice(0, 32)}`;
}
