import type { HandlerContext, Interceptor } from '@connectrpc/connect';
import type { RequestLimits } from '#lib/limits/request-limits.ts';
import { peerAddressHeader } from '../wire.ts';
import { limitedBy, operationOf } from './access.ts';

type Gate = (context: HandlerContext) => Promise<void>;

/** Counts direct calls by the address of their connection, before their message is read. */
export function limitedGate(gate: Gate, limits: RequestLimits): Gate {
  return async (context) => {
    await gate(context);
    const { isDirect } = limitedBy(context.values);
    if (isDirect) limits.take('address', context.requestHeader.get(peerAddressHeader) ?? '');
  };
}

/** Counts calls by workspace, which is known once access is granted, and direct ones by key or user. */
export function limitInterceptor(limits: RequestLimits): Interceptor {
  return (next) => (request) => {
    if (!operationOf(request.method)) return next(request);
    const { user, workspaceId, isDirect } = limitedBy(request.contextValues);
    if (user !== undefined && isDirect) limits.take('key', user);
    if (user !== undefined && workspaceId !== '') limits.take('workspace', workspaceId);
    return next(request);
  };
}
