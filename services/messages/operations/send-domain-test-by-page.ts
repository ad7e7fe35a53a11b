import type { Context, Methods } from '../context.ts';
import { withinCall } from '../delivery/within-call.ts';
import { sendTest } from '../domain-tests/send.ts';

export function sendDomainTestByPage(context: Context): Methods['sendDomainTestByPage'] {
  return async ({ workspaceId, name }, call) => {
    const request = { workspaceId, name, integrationId: '' };
    await withinCall(call, (stop) => sendTest(context, request, stop));
    return {};
  };
}
