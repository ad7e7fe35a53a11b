import { expect, test } from '@jest/globals';
import { requestExample } from '../../gateway/openapi/examples.ts';
import { routes } from '../contract/operations.ts';
import { act, draftOf, givenBroadcast, givenTemplate, good, unique } from '../stack/given.ts';
import { ownerToken } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';
import type { TestStack } from '../stack.ts';

const stack = borrowedStack();

/** The example of an operation in /openapi.json, in the workspace of the tests. */
function exampleOf(operation: string, more: object = {}) {
  const route = routes.find(({ path }) => path === `/api/${operation}`);
  if (!route) throw new Error(`no operation ${operation}`);
  const example = { ...requestExample(route.method.input), ...more };
  const request: Record<string, unknown> = { ...example, workspace_id: stack.workspaceId };
  if (route.verb === 'POST') return stack.call(operation, request);
  const query = Object.fromEntries(
    Object.entries(request).map(([name, value]) => [name, String(value)]),
  );
  return stack.call(operation, undefined, { query });
}

test('the examples of the documentation are calls that work', async () => {
  const id = unique('t');
  for (const [operation, status] of [
    ['templates.create', 200],
    ['templates.list', 200],
    ['templates.get', 200],
    ['templates.update', 200],
    ['templates.listVersions', 200],
    ['templates.compareVersions', 200],
    ['templates.restoreVersion', 200],
    ['templates.delete', 200],
  ] as const) {
    const answer = await exampleOf(operation, operation === 'templates.list' ? {} : { id });
    expect([operation, answer.status, answer.body.error]).toEqual([operation, status, undefined]);
  }
  const created = await exampleOf('templateBlocks.create');
  expect(created).toMatchObject({ status: 201, body: { block: { block: { type: 'mj-text' } } } });
  const block = { id: created.body.block.id };
  for (const operation of ['list', 'get', 'update', 'delete']) {
    const more = operation === 'list' ? {} : block;
    const answer = await exampleOf(`templateBlocks.${operation}`, more);
    expect([operation, answer.status, answer.body.error]).toEqual([operation, 200, undefined]);
  }
});

test('unknown words and forms are a 400 that names the field', async () => {
  for (const [change, field] of [
    [{ category: 'newsletter' }, 'category'],
    [{ channel: 'fax' }, 'channel'],
    [{ template_macro_id: 'none' }, 'template_macro_id'],
    [{ translations: { xx: {} } }, 'translations'],
  ] as const) {
    const answer = await exampleOf('templates.create', { id: unique('t'), ...change });
    expect([field, answer.status, answer.body.details?.[0]?.field]).toEqual([field, 400, field]);
  }
});

test('a template of a list, or of a live broadcast, cannot be deleted until it is used no more', async () => {
  const { call, workspaceId } = stack;
  const given = await givenBroadcast(stack, 1);
  const { templateId: id } = given;
  const remove = () => call('templates.delete', { workspace_id: workspaceId, id });
  const list = { workspace_id: workspaceId, id: given.listId, name: 'Readers' };
  const doubleOptin = { is_double_optin: true, double_optin_template: { id } };
  good(await call('lists.update', { ...list, ...doubleOptin }));
  const date = new Date(Date.now() + 86_400_000).toISOString();
  const start = { scheduled_date: date.slice(0, 10), scheduled_time: '10:00', timezone: 'UTC' };
  good(await act(stack, 'schedule', given.id, start));
  expect(await remove()).toMatchObject({
    status: 400,
    body: { error: "template is used by list 'Readers', broadcast 'News'" },
  });
  good(await act(stack, 'cancel', given.id));
  await until('the broadcast uses it no more', async () => {
    const { error } = (await remove()).body;
    return error === "template is used by list 'Readers'";
  });
  good(await call('lists.update', list));
  await until('the list uses it no more', async () => (await remove()).status === 200);
  expect(await call('lists.update', { ...list, ...doubleOptin })).toMatchObject({
    status: 400,
    body: {
      error: 'double opt-in template: invalid template reference: no email template has this id',
    },
  });
  const draft = await call('broadcasts.create', draftOf(stack, { ...given, templateId: id }));
  expect(await act(stack, 'schedule', good(draft).broadcast.id, start)).toMatchObject({
    status: 400,
    body: { error: `template ${id} not found` },
  });
});

test('templates of nearly a megabyte are listed by pages of five', async () => {
  const token = await ownerToken(stack.settings);
  const call: TestStack['call'] = (operation, body, options) =>
    stack.call(operation, body, { token, ...options });
  const workspaceId = unique('w');
  good(await call('workspaces.create', { id: workspaceId, name: 'Large' }));
  const inside = { ...stack, workspaceId, call };
  const large = `<mjml><mj-body><mj-section><mj-column><mj-text>${'word '.repeat(95_000)}</mj-text></mj-column></mj-section></mj-body></mjml>`;
  for (let n = 0; n < 12; n += 1) await givenTemplate(inside, large);
  const ids = new Set<string>();
  let cursor = '';
  do {
    const query = { workspace_id: workspaceId, ...(cursor ? { cursor } : {}) };
    const { templates, next_cursor } = good(await call('templates.list', undefined, { query }));
    expect(templates.length).toBeLessThanOrEqual(5);
    for (const { id } of templates) ids.add(id);
    cursor = next_cursor ?? '';
  } while (cursor !== '');
  expect(ids.size).toBe(12);
}, 120_000);
