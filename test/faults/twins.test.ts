import { expect, test } from '@jest/globals';
import type { Answer } from '../stack/client.ts';
import {
  act,
  draftOf,
  givenBroadcast,
  givenTemplate,
  good,
  mailsTo,
  sendNow,
  setRate,
  untilFlowing,
  untilStatus,
} from '../stack/given.ts';
import { borrowedStack } from '../stack/shared.ts';
import { passTime } from '../stack/time.ts';
import { endStatus, withRun } from '../stack/workflows.ts';

const stack = borrowedStack();

const times = <Result>(count: number, action: (at: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, at) => action(at)));

/** One call succeeded, and the others were refused with the state that forbids it. */
function expectOne(answers: readonly Answer[], refusal: RegExp): void {
  const [losers, winners] = [400, 200].map((code) =>
    answers.filter(({ status }) => status === code),
  );
  expect(winners).toHaveLength(1);
  expect(losers).toHaveLength(answers.length - 1);
  for (const { body } of losers ?? []) expect(body.error).toMatch(refusal);
}

/** How many runs a broadcast had. */
async function runsOf(id: string): Promise<number> {
  await endStatus(stack, id);
  return withRun(stack, id, async ({ workflowId }, client) => {
    const runs: string[] = [];
    for await (const { runId } of client.workflow.list({ query: `WorkflowId = '${workflowId}'` })) {
      runs.push(runId);
    }
    return runs.length;
  });
}

test('one of concurrent schedule calls succeeds, and the broadcast has one run', async () => {
  const { id, emails } = await givenBroadcast(stack, 50);
  const answers = await times(10, () => act(stack, 'schedule', id, { send_now: true }));
  expectOne(answers, /^cannot schedule a (sending|sent) broadcast$/);
  await untilStatus(stack, id, 'sent');
  expect(mailsTo(stack, emails)).toHaveLength(50);
  expect(await runsOf(id)).toBe(1);
}, 60_000);

test('one of concurrent resume calls succeeds, and nobody is mailed twice', async () => {
  const { id, emails } = await givenBroadcast(stack, 200);
  await setRate(stack, 3_000);
  await sendNow(stack, id);
  await untilFlowing(stack, emails);
  good(await act(stack, 'pause', id));
  expectOne(
    await times(10, () => act(stack, 'resume', id)),
    /^cannot resume a (sending|sent) broadcast$/,
  );
  await untilStatus(stack, id, 'sent');
  expect(mailsTo(stack, emails)).toHaveLength(200);
  expect(new Set(mailsTo(stack, emails).map(({ email }) => email)).size).toBe(200);
}, 60_000);

/** A test of two variations whose sample is sent, and that is decided two hours later. */
async function givenTested() {
  const { id, listId, templateId, emails } = await givenBroadcast(stack, 40);
  const templates = [templateId, await givenTemplate(stack)] as const;
  const test_settings = {
    enabled: true,
    sample_percentage: 50,
    auto_send_winner: true,
    auto_send_winner_metric: 'open_rate',
    test_duration_hours: 2,
    variations: templates.map((template_id) => ({ template_id })),
  };
  const draft = draftOf(stack, { listId, templateId });
  good(await act(stack, 'update', id, { ...draft, test_settings }));
  await sendNow(stack, id);
  await untilStatus(stack, id, 'test_completed');
  return { id, emails, templates };
}

type Tested = Awaited<ReturnType<typeof givenTested>>;

const select = ({ id, templates }: Tested, arm: number) =>
  act(stack, 'selectWinner', id, { template_id: templates[arm] });

/**
 * The winner, once everybody has one mail and all but the losing half of the sample has the
 * winner's.
 */
async function winnerOf({ id, emails, templates }: Tested): Promise<string> {
  const { winning_template: winner } = (await untilStatus(stack, id, 'sent')) as {
    winning_template?: string;
  };
  const counts = templates.map(async (template_id) => {
    const query = { workspace_id: stack.workspaceId, broadcast_id: id, template_id, limit: '100' };
    return good(await stack.call('messages.list', undefined, { query })).messages.length;
  });
  expect(await Promise.all(counts)).toEqual(winner === templates[0] ? [30, 10] : [10, 30]);
  expect(mailsTo(stack, emails)).toHaveLength(40);
  return winner ?? '';
}

const tooLate = /^cannot select a winner of a (winner_selected|sent) broadcast$/;

test('one of concurrent winner selections succeeds, and its choice is sent', async () => {
  const tested = await givenTested();
  const answers = await times(10, (at) => select(tested, at % 2));
  expectOne(answers, tooLate);
  const chosen = answers.findIndex(({ status }) => status === 200) % 2;
  expect(await winnerOf(tested)).toBe(tested.templates[chosen]);
}, 60_000);

test('a selection at the moment of the automatic decision wins, or is refused as too late', async () => {
  for (let round = 0; round < 4; round += 1) {
    const tested = await givenTested();
    const [, answer] = await Promise.all([passTime(stack, tested.id), select(tested, 1)]);
    const winner = await winnerOf(tested);
    if (answer.status === 200) {
      expect(winner).toBe(tested.templates[1]);
    } else {
      expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(tooLate)]);
      expect(winner).toBe(tested.templates[0]);
    }
  }
}, 120_000);
