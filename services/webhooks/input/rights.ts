import type { HandlerContext } from '@connectrpc/connect';
import { requirePermission } from '#lib/rpc/server/access.ts';
import { resourceOf } from './event-types.ts';

/** Requires the right to read what events of some types hold. */
export function requireReading(
  call: Pick<HandlerContext, 'values'>,
  types: readonly string[],
): void {
  for (const resource of new Set(types.map(resourceOf))) requirePermission(call, resource, 'read');
}
