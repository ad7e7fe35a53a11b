import {
  ActivityFailure,
  ApplicationFailure,
  defineSearchAttributeKey,
  SearchAttributeType,
} from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { Look } from '../../services/broadcasts/activities/read-plan.ts';
import type { Step } from '../../services/broadcasts/lifecycle/next-step.ts';

const status = defineSearchAttributeKey('BroadcastStatus', SearchAttributeType.KEYWORD);
const recipients = defineSearchAttributeKey('RecipientCount', SearchAttributeType.INT);

/**
 * Shows operators the state of the broadcast: existing search attributes for lists, a table for the
 * page.
 */
export function tell({ step, story }: Look, attributes = attributesOfOldRun()): void {
  setCurrentDetails(
    [
      '| Broadcast | |',
      '|---|---|',
      `| Phase | ${phaseOf(step, story)} |`,
      `| Recipients | ${story.recipients}${story.isFreezing ? ' so far' : ''} |`,
      `| Sent | ${story.counts.sent} |`,
      `| Failed | ${story.counts.failed} |`,
      `| Skipped | ${story.counts.skipped} |`,
      `| Deferred | ${story.counts.deferred} |`,
      ...(story.winner ? [`| Winner | ${story.winner} |`] : []),
      `| Next step | ${nextOf(step)} |`,
      `| Reason | ${story.reason ?? ''} |`,
      ...(story.pageUrl ? ['', `[Its page, with plots](${story.pageUrl})`] : []),
    ].join('\n'),
  );
  const values = [
    { key: status, value: story.status },
    { key: recipients, value: story.recipients },
  ].filter(({ key }) => attributes.includes(key.name));
  if (values.length > 0) upsertSearchAttributes(values);
}

/**
 * Runs of older versions have no list of attributes: if one of them is set, the server knows them
 * all.
 */
function attributesOfOldRun(): string[] {
  return 'WorkspaceId' in workflowInfo().searchAttributes ? [status.name, recipients.name] : [];
}

function phaseOf(step: Step, story: Look['story']): string {
  const { status: word, pausedBy, retriesAt, startsAt } = story;
  const rests = step.do === 'wait';
  switch (word) {
    case 'scheduled':
      return `scheduled for ${startsAt}`;
    case 'paused':
      if (pausedBy === 'person') return 'paused by a person';
      return retriesAt === null ? 'paused by a fault' : 'paused by an outage';
    case 'sending':
      return rests ? 'sending: nobody is due now' : 'sending';
    case 'testing':
      return 'testing: the sample is being sent';
    case 'test_completed':
      return 'test completed: waiting for a winner';
    case 'winner_selected':
      return rests
        ? 'winner selected: nobody is due now'
        : 'winner selected: the rest is being sent';
    default:
      return word;
  }
}

function nextOf(step: Step): string {
  switch (step.do) {
    case 'wait':
      return step.untilMs === null
        ? 'waits for a change'
        : `waits until ${new Date(step.untilMs).toISOString()}`;
    case 'send':
      return `sends slice ${step.slices.join(' and ')}${step.freezes ? ', and freezes more of the audience' : ''}`;
    case 'freeze':
      return 'freezes the plan and the audience';
    case 'settle':
      return 'counts what was still on its way';
    case 'pauseForUnrendered':
      return 'pauses: too many messages could not be rendered';
    case 'completeTest':
      return 'ends the test';
    case 'pickWinner':
      return 'picks the winner by its numbers';
    case 'end':
      return 'none';
    default:
      return step.do;
  }
}

/** The message of the error in an activity. */
export function reasonOf(error: unknown): string {
  if (error instanceof ActivityFailure && error.cause instanceof ApplicationFailure) {
    return error.cause.message;
  }
  return error instanceof Error ? error.message : 'unknown';
}
