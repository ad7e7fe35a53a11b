import { createContextKey, type HandlerContext, type Interceptor } from '@connectrpc/connect';
import { ConcurrencyLimiter, heavyLimits } from '#lib/limits/concurrency-limiter.ts';
import type { RequestLimits } from '#lib/limits/request-limits.ts';
import { peerAddressHeader } from '../wire.ts';
import { limitedBy, operationOf } from './access.ts';

const restKey = createContextKey(0);

type Gate = (context: HandlerContext) => Promise<void>;

/** Counts direct calls by the address of their connection, before their message is read. */
export function limitedGate(gate: Gate, limits: RequestLimits): Gate {
  return async (context) => {
    await gate(context);
    const { isDirect } = limitedBy(context.values);
    if (isDirect) limits.take('address', context.requestHeader.get(peerAddressHeader) ?? '');
  };
}

/**
 * Counts calls by workspace, which is known once access is granted, and direct ones by key or user.
 */
export function limitInterceptor(limits: RequestLimits): Interceptor {
  return (next) => (request) => {
    if (!operationOf(request.method)) return next(request);
    const { user, workspaceId, isDirect } = limitedBy(request.contextValues);
    if (user !== undefined && isDirect) limits.take('key', user);
    if (user !== undefined && workspaceId !== '') limits.take('workspace', workspaceId);
    return next(request);
  };
}

/**
 * Has heavy calls take turns: a few run at a time, so that quick ones have the rest of the process
 * and of its connections. A tenant has fewer places while others are active: their quick calls need
 * the processor that its heavy ones would take. Services make heavy calls for a tenant, and are
 * treated as the tenant.
 */
export function heavyInterceptor(): Interceptor {
  const limiter = new ConcurrencyLimiter(heavyLimits);
  return (next) => async (request) => {
    const operation = operationOf(request.method);
    const { workspaceId } = limitedBy(request.contextValues);
    if (workspaceId !== '') limiter.noteCall(workspaceId);
    if (request.stream || !operation?.heavy) return next(request);
    const leave = await limiter.enter(workspaceId, request.signal);
    try {
      return await next(request);
    } finally {
      leave(request.contextValues.get(restKey));
    }
  };
}

/**
 * Has the next heavy call of the tenant wait for so long after this one, which is heavy. Meanwhile
 * others have its place.
 */
export function restAfter({ values }: Pick<HandlerContext, 'values'>, restMs: number): void {
  values.set(restKey, restMs);
}
