import { listsOf } from '../broadcast/row.ts';
import type { Context, Methods } from '../context.ts';
import { storedAudience } from '../input/content.ts';
import { checkAudience } from '../plan/sendable.ts';

/** Shorter than the deadline of the call, so that it is ours that ends first. */
const callTimeoutMs = 20_000;

export function estimateAudience(context: Context): Methods['estimateAudience'] {
  return async (request, { signal }) => {
    const { workspaceId } = request;
    const audience = storedAudience(request);
    await checkAudience(context, { workspace_id: workspaceId, audience });
    const { count } = await context.audience.countAudience(
      {
        workspaceId,
        listIds: listsOf(audience),
        segmentIds: audience.segments,
        includeUnsubscribed: !audience.exclude_unsubscribed,
      },
      { signal, timeoutMs: callTimeoutMs },
    );
    return { count };
  };
}
