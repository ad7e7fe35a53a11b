import { expect, test } from '@jest/globals';
import {
  act,
  draftOf,
  fast,
  givenList,
  givenTemplate,
  good,
  importContacts,
  mailsTo,
  sendNow,
  setRate,
  untilStatus,
} from '../stack/given.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';
import { historyText } from '../stack/workflows.ts';

const stack = borrowedStack();

const zone = 'Nowhere/Zanzibarbaria';
const mjml = `<mjml><mj-body><mj-section><mj-column>
<mj-text>It is {{ "now" | date: "%H", contact.custom_string_1 }} o'clock</mj-text>
</mj-column></mj-section></mj-body></mjml>`;

/** A broadcast to a number of contacts, some of whom have a value that fails in the template. */
async function givenPoisoned(count: number, oneIn: number) {
  const { call, workspaceId } = stack;
  const listId = await givenList(stack);
  const emails = await importContacts(stack, listId, count);
  const bad = emails.filter((_, index) => index % oneIn === 0);
  const contacts = bad.map((email) => ({ email, custom_string_1: zone }));
  good(await call('contacts.import', { workspace_id: workspaceId, contacts }));
  const templateId = await givenTemplate(stack, mjml);
  const draft = draftOf(stack, { listId, templateId });
  const { broadcast } = good(await call('broadcasts.create', draft));
  await setRate(stack, fast);
  await sendNow(stack, broadcast.id);
  return { id: broadcast.id as string, emails, bad };
}

test('a template that fails for few recipients fails only theirs', async () => {
  const { id, emails, bad } = await givenPoisoned(300, 30);
  const ended = await untilStatus(stack, id, 'sent');
  expect(ended).toMatchObject({ sent_count: 290, failed_count: 10 });
  expect(mailsTo(stack, emails)).toHaveLength(290);
  const query = { workspace_id: stack.workspaceId, broadcast_id: id, contact_email: bad[0] ?? '' };
  const { messages } = good(await stack.call('messages.list', undefined, { query }));
  expect(messages).toMatchObject([
    { status: 'failed', status_info: expect.stringMatching(/^the message can not be rendered: /) },
  ]);
}, 60_000);

test('a template that fails for many pauses the broadcast with a reason without values; resume sends the rest', async () => {
  const { id, emails, bad } = await givenPoisoned(1_000, 5);
  const paused = await untilStatus(stack, id, 'paused');
  expect(paused.pause_reason).toMatch(
    /^\d+ of \d+ messages could not be rendered: Invalid time zone specified$/,
  );
  expect(paused.sent_count + paused.failed_count).toBe(600);
  let history = '';
  await until('the run has told why', async () => {
    history = await historyText(stack, id);
    return history.includes(paused.pause_reason ?? 'no reason');
  });
  expect(history).not.toContain(zone);
  good(await act(stack, 'resume', id));
  const ended = await untilStatus(stack, id, 'sent');
  expect(ended).toMatchObject({ sent_count: 800, failed_count: 200 });
  const reached = mailsTo(stack, emails).map(({ email }) => email);
  const fine = emails.filter((email) => !bad.includes(email));
  expect(reached.toSorted()).toEqual(fine.toSorted());
}, 90_000);
