import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../stack/client.ts';
import { act, draftOf, givenList, givenTemplate, good, importContacts } from '../stack/given.ts';
import { passTime } from '../stack/time.ts';
import { until } from '../stack/until.ts';
import { withRun } from '../stack/workflows.ts';
import type { TestStack } from '../stack.ts';
import type { Action, Life } from './plan.ts';
import { misfit } from './table.ts';

/** The broadcast of a run, and the observations on the way. */
export type Lived = {
  id: string;
  emails: string[];
  templates: string[];
  body: object;
  left: Map<string, number>;
  cancelledAtMs: number | undefined;
  problems: string[];
};

const recipients = 120;
const restMsMax = 60_000;

export async function givenLife(stack: TestStack, { test }: Life): Promise<Lived> {
  const listId = await givenList(stack);
  const emails = await importContacts(stack, listId, recipients);
  const templates = [await givenTemplate(stack), await givenTemplate(stack)];
  const body = {
    ...draftOf(stack, { listId, templateId: templates[0] ?? '' }),
    ...(test === 'none' ? {} : { test_settings: testOf(templates, test === 'by numbers') }),
  };
  const { broadcast } = good(await stack.call('broadcasts.create', body));
  const nothing = { left: new Map(), cancelledAtMs: undefined, problems: [] };
  return { id: broadcast.id, emails, templates, body, ...nothing };
}

const testOf = (templates: string[], isAutomatic: boolean) => ({
  enabled: true,
  sample_percentage: 40,
  auto_send_winner: isAutomatic,
  ...(isAutomatic ? { auto_send_winner_metric: 'click_rate', test_duration_hours: 1 } : {}),
  variations: templates.map((template_id) => ({ template_id })),
});

/** A test, or none. */
const someTest = ({ templates }: Lived, reader: number) =>
  reader % 2 === 0
    ? { variations: templates.slice(0, 1).map((template_id) => ({ template_id })) }
    : testOf(templates, reader % 4 === 1);

/** Takes the actions one by one, and records answers that do not fit the state table. */
export async function live(stack: TestStack, lived: Lived, { actions }: Life): Promise<void> {
  for (const { action, reader, afterMs } of actions) {
    await sleep(afterMs);
    const before = await statusOf(stack, lived.id);
    const answer = await doOne(stack, lived, { action, reader }).catch(unreached);
    const wrong = before && answer && misfit(action, before, answer);
    if (wrong) lived.problems.push(wrong);
    if (action === 'cancel' && answer?.status === 200) lived.cancelledAtMs = Date.now();
  }
}

/** Undefined while the API is not reachable. */
async function statusOf({ call, workspaceId }: TestStack, id: string): Promise<string | undefined> {
  const query = { workspace_id: workspaceId, id };
  const answer = await call('broadcasts.get', undefined, { query }).catch(unreached);
  return answer?.status === 404 ? 'deleted' : answer?.body.broadcast?.status;
}

/** A killed process breaks connections, also those of an operator to Temporal. */
const unreached = () => undefined;

type Reply = { status: number; text: string } | undefined;
const replyOf = ({ status, body }: Answer): Reply => ({ status, text: String(body?.error ?? '') });

async function doOne(
  stack: TestStack,
  lived: Lived,
  { action, reader }: { action: Action; reader: number },
): Promise<Reply> {
  const { id, templates, body } = lived;
  switch (action) {
    case 'update':
      return replyOf(await act(stack, 'update', id, { ...body, name: 'Newer' }));
    case 'switch the test':
      return replyOf(
        await act(stack, 'update', id, { ...body, test_settings: someTest(lived, reader) }),
      );
    case 'schedule now':
      return replyOf(await act(stack, 'schedule', id, { send_now: true }));
    case 'schedule later':
      return replyOf(await act(stack, 'schedule', id, tomorrow()));
    case 'select a winner':
      return replyOf(await act(stack, 'selectWinner', id, { template_id: templates[1] }));
    case 'pause':
    case 'resume':
    case 'cancel':
    case 'delete':
      return replyOf(await act(stack, action, id));
    case 'a reader leaves':
      return leave(stack, lived, reader);
    case 'the time comes':
      return passTime(stack, id).then(unreached);
    case 'signal':
      return withRun(stack, id, (handle) => handle.signal('changed')).then(unreached);
    case 'operator pauses':
      return withRun(stack, id, (handle) => handle.executeUpdate('pause')).then(unreached);
    case 'operator resumes':
      return withRun(stack, id, (handle) => handle.executeUpdate('resume')).then(unreached);
    case 'wait':
      return undefined;
    default: {
      const impossible: never = action;
      return impossible;
    }
  }
}

function tomorrow(): object {
  const [date] = new Date(Date.now() + 86_400_000).toISOString().split('T');
  return { scheduled_date: date, scheduled_time: '12:00', timezone: 'UTC' };
}

async function leave(stack: TestStack, { body, emails, left }: Lived, reader: number) {
  const email = emails[reader % emails.length] ?? '';
  const { audience } = body as { audience: { list: string } };
  const answer = await stack.call('contactLists.updateStatus', {
    workspace_id: stack.workspaceId,
    email,
    list_id: audience.list,
    status: 'unsubscribed',
  });
  if (answer.status === 200 && !left.has(email)) left.set(email, Date.now());
  return undefined;
}

/** Brings a broadcast to its end as its users would, once everything works again. */
export async function bringToRest(stack: TestStack, lived: Lived): Promise<string> {
  let status = '';
  await until(
    `broadcast ${lived.id} rests`,
    async () => {
      status = (await statusOf(stack, lived.id)) ?? '';
      if (status === 'paused') await act(stack, 'resume', lived.id);
      if (status === 'test_completed')
        await doOne(stack, lived, { action: 'select a winner', reader: 0 });
      if (status === 'scheduled') await passTime(stack, lived.id).catch(unreached);
      return ['draft', 'sent', 'cancelled', 'deleted'].includes(status);
    },
    { withinMs: restMsMax },
  );
  return status;
}
