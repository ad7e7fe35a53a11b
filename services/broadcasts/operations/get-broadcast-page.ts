import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { invalidField } from '#lib/errors/errors.ts';
import type { Broadcast } from '../broadcast/broadcast.ts';
import { findBroadcast } from '../broadcast/queries.ts';
import type { Context, Methods } from '../context.ts';
import { readLinks, readTimeline } from '../page/progress.ts';
import { compare } from '../variations/comparison.ts';
import { type Outcomes, readOutcomes } from '../variations/outcomes.ts';
import { numbersOf, type StatsOf, testNumbersOf } from '../variations/stats.ts';
import { broadcastMessage } from '../views/broadcast.ts';
import { variationResults } from '../views/variation-result.ts';

export function getBroadcastPage(context: Context): Methods['getBroadcastPage'] {
  return async ({ id, token }) => {
    const link = context.pageLinks.read(id, token);
    if (!link) throw invalidField('token', 'the link is not valid, or has expired');
    const em = context.store.fork();
    const broadcast = await findBroadcast(em, { workspaceId: link.workspaceId, id });
    const [outcomes, links, timeline] = await Promise.all([
      readOutcomes(context, em, [broadcast]),
      readLinks(context, broadcast),
      readTimeline(context, broadcast),
    ]);
    return {
      broadcast: shownOf(broadcast, outcomes),
      expiresAt: timestampFromDate(link.expiresAt),
      ...resultsOf(broadcast, outcomes.statsOf),
      decidedBy: broadcast.winner_decided_by ?? undefined,
      links,
      timeline,
    };
  };
}

/** Without the parts that are for the broadcast's authors alone. */
function shownOf(broadcast: Broadcast, outcomes: Outcomes) {
  const message = broadcastMessage(broadcast, { ...outcomes, pageUrlOf: () => undefined });
  return { ...message, audience: undefined, metadata: undefined, dataFeed: undefined };
}

function resultsOf(broadcast: Broadcast, statsOf: StatsOf | undefined) {
  if (!statsOf || !broadcast.started_at) return { arms: [] };
  const { test_settings: test } = broadcast;
  const numbers = numbersOf(broadcast, statsOf);
  const results = variationResults(numbers);
  const tested = test.enabled ? testNumbersOf(broadcast, statsOf) : undefined;
  const ofTest = broadcast.winning_template && tested ? variationResults(tested) : [];
  return {
    arms: results.map((result, arm) => ({
      result,
      openRate: result.openRateInterval,
      clickRate: result.clickRateInterval,
      testResult: ofTest[arm],
    })),
    comparison: test.enabled ? compare(tested ?? numbers, test) : undefined,
  };
}
