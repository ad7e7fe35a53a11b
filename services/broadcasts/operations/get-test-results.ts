import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { refusal } from '#lib/errors/reasons.ts';
import { findBroadcast } from '../broadcast/queries.ts';
import type { Context, Methods } from '../context.ts';
import { compare } from '../variations/comparison.ts';
import { numbersOf, readStats, testNumbersOf, type VariationNumbers } from '../variations/stats.ts';
import { statusEnum } from '../views/broadcast.ts';
import { variationResults } from '../views/variation-result.ts';

export function getTestResults(context: Context): Methods['getTestResults'] {
  return async ({ workspaceId, id }) => {
    const broadcast = await findBroadcast(context.store.fork(), { workspaceId, id });
    const { test_settings: test, started_at, test_sent_at, status } = broadcast;
    if (!test.enabled) {
      throw refusal('BROADCAST_WITHOUT_TEST', 'the broadcast has no test');
    }
    if (!started_at) {
      const text = `cannot get test results of a ${status} broadcast that has not started`;
      throw refusal('BROADCAST_STATUS', text);
    }
    const statsOf = await readStats(context, [broadcast]);
    const tested = testNumbersOf(broadcast, statsOf) ?? [];
    const comparison = compare(tested, test);
    const isDecided = broadcast.winning_template || test.auto_send_winner;
    const isAdvised = comparison?.isEnough && !isDecided;
    return {
      broadcastId: id,
      status: statusEnum(status),
      testStartedAt: timestampFromDate(started_at),
      testCompletedAt: test_sent_at ? timestampFromDate(test_sent_at) : undefined,
      variationResults: byTemplate(numbersOf(broadcast, statsOf)),
      testResults: byTemplate(tested),
      recommendedWinner: isAdvised ? comparison.best : undefined,
      comparison,
      winningTemplate: broadcast.winning_template ?? undefined,
      isAutoSendWinner: test.auto_send_winner,
      decidedBy: broadcast.winner_decided_by ?? undefined,
    };
  };
}

function byTemplate(variations: readonly VariationNumbers[]) {
  return Object.fromEntries(
    variationResults(variations).map((result) => [result.templateId, result]),
  );
}
