import type { Context, Methods } from '../context.ts';
import { broadcastSending } from '../delivery/broadcast.ts';
import { sendIndividually } from '../delivery/individual.ts';
import { withinCall } from '../delivery/within-call.ts';

export function sendIndividual(context: Context): Methods['sendIndividual'] {
  return (request, call) =>
    withinCall(call, async (stop) => {
      const sending = await broadcastSending(context, request);
      const email = request.recipientEmail;
      const { fault } = await sendIndividually(context, { ...sending, email, stop });
      if (fault) throw fault;
      return {};
    });
}
