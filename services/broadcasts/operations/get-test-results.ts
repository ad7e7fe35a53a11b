import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { refusal } from '#lib/rpc/reasons.ts';
import { findBroadcast } from '../broadcast-queries.ts';
import type { Context, Methods } from '../context.ts';
import { compare } from '../variations/comparison.ts';
import { numbersOf, readStats } from '../variations/stats.ts';
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
    const numbers = numbersOf(broadcast, await readStats(context, [broadcast]));
    // Afterwards the numbers of the winner are those of the mails to everybody else, too.
    const comparison = broadcast.winning_template ? undefined : compare(numbers);
    const isAdvised = comparison?.isEnough && !test.auto_send_winner;
    return {
      broadcastId: id,
      status: statusEnum(status),
      testStartedAt: timestampFromDate(started_at),
      testCompletedAt: test_sent_at ? timestampFromDate(test_sent_at) : undefined,
      variationResults: Object.fromEntries(
        variationResults(numbers).map((result) => [result.templateId, result]),
      ),
      recommendedWinner: isAdvised ? comparison.best : undefined,
      comparison,
      winningTemplate: broadcast.winning_template ?? undefined,
      isAutoSendWinner: test.auto_send_winner,
      decidedBy: broadcast.winner_decided_by ?? undefined,
    };
  };
}
