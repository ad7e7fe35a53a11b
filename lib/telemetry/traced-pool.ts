import type { Pool, PoolClient } from 'pg';
import { inSpan, isTracing } from './tracing.ts';

const firstWord = /^\s*(?:\/\*.*?\*\/\s*)?(select|insert|update|delete|with)\b/i;

/**
 * Has each statement of a pool that is part of a trace make a span, if traces are sent. Its text is
 * left out: the ORM writes values into it.
 */
export function tracePool(name: string, pool: Pool): void {
  if (!isTracing()) return;
  pool.on('connect', (client: PoolClient) => {
    const query = client.query.bind(client);
    const traced = (first: unknown, ...rest: unknown[]) => {
      const run = () => Reflect.apply(query, client, [first, ...rest]);
      const operation = operationOf(first);
      // Callers with a callback, and cursors, end later than their call.
      if (operation === '' || rest.some((each) => typeof each === 'function')) return run();
      const attributes = {
        'db.system.name': 'postgresql',
        'db.operation.name': operation,
        'db.namespace': name,
      };
      return inSpan(`${operation} ${name}`, { kind: 'client', attributes, onlyInTrace: true }, run);
    };
    Object.assign(client, { query: traced });
  });
}

function operationOf(statement: unknown): string {
  const text =
    typeof statement === 'object' && statement !== null && 'text' in statement
      ? statement.text
      : statement;
  if (typeof text !== 'string') return '';
  return firstWord.exec(text.slice(0, 200))?.[1]?.toUpperCase() ?? '';
}
