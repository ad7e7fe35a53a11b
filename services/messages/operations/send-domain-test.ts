import type { Context, Methods } from '../context.ts';
import { withinCall } from '../delivery/within-call.ts';
import { sendTest } from '../domain-tests/send.ts';
import { findTest } from '../domain-tests/store.ts';
import { toDomainTest } from '../views/domain-test.ts';

export function sendDomainTest(context: Context): Methods['sendDomainTest'] {
  return async (request, call) => {
    const { workspaceId } = request;
    const id = await withinCall(call, (stop) => sendTest(context, request, stop));
    const test = await findTest(context.store.fork(), { workspaceId, id });
    return { test: test && toDomainTest(test) };
  };
}
