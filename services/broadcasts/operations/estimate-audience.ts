import { Code, ConnectError } from '@connectrpc/connect';
import { keepUnopened } from '../audience/unopened.ts';
import { listsOf } from '../broadcast/row.ts';
import type { Context, Methods } from '../context.ts';
import { storedAudience } from '../input/content.ts';
import { checkNotOpenedOf } from '../plan/not-opened-of.ts';
import { checkAudience } from '../plan/sendable.ts';

/** Shorter than the deadline of the call, so that it is ours that ends first. */
const callTimeoutMs = 20_000;
const pageSize = 10_000;
const opensAreNotExact =
  'Opens are not exact: some mail programs load no pictures, some proxies load all of them, and mails without tracking have none.';

export function estimateAudience(context: Context): Methods['estimateAudience'] {
  return async (request, { signal }) => {
    const { workspaceId } = request;
    const audience = storedAudience(request);
    await checkAudience(context, { workspace_id: workspaceId, audience });
    await checkNotOpenedOf(context, { workspace_id: workspaceId, audience }, 'start');
    const asked = {
      workspaceId,
      segmentIds: audience.segments,
      includeUnsubscribed: !audience.exclude_unsubscribed,
    };
    const listIds = listsOf(audience);
    if (audience.not_opened_of !== undefined) {
      const [listId = '', ...furtherListIds] = listIds;
      const pages = { ...asked, listId, furtherListIds };
      const count = await countUnopened(context, audience.not_opened_of, pages, signal);
      return { count, note: opensAreNotExact };
    }
    const { count } = await context.audience.countAudience(
      { ...asked, listIds },
      { signal, timeoutMs: callTimeoutMs },
    );
    return { count };
  };
}

type Pages = {
  workspaceId: string;
  listId: string;
  furtherListIds: string[];
  segmentIds: string[];
  includeUnsubscribed: boolean;
};

/** Reads the audience as the freeze does, page by page. */
async function countUnopened(
  context: Context,
  broadcastId: string,
  pages: Pages,
  signal: AbortSignal,
): Promise<number> {
  const { workspaceId } = pages;
  const endMs = Date.now() + callTimeoutMs;
  const options = () => {
    const timeoutMs = endMs - Date.now();
    // A call with a time of 0 has no limit.
    if (timeoutMs <= 0) throw tooLarge();
    return { signal, timeoutMs };
  };
  let count = 0;
  let afterEmail = '';
  do {
    const page = await context.audience.listAudience({ ...pages, afterEmail, pageSize }, options());
    const unopened = await keepUnopened(context, page, { workspaceId, broadcastId }, options());
    count += unopened.emails.length;
    afterEmail = page.nextAfterEmail;
  } while (afterEmail !== '');
  return count;
}

function tooLarge(): ConnectError {
  const text = `the audience is too large to be counted in ${callTimeoutMs / 1_000} seconds`;
  return new ConnectError(text, Code.DeadlineExceeded);
}
