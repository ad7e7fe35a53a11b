import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { TemplateCategory, TemplateChannel } from '#gen/postrider/templates/v1/templates_pb.ts';
import { createRequest, mail, useService } from '../test/given.ts';

const given = useService();

const compiled = { workspaceId: 'acme', messageId: 'm1' };

test('get reads a created template, and refuses an unknown one', async () => {
  const request = createRequest();
  const { template } = await given.client.createTemplate(request);
  expect((await given.client.getTemplate(request)).template).toEqual(template);
  for (const missing of [
    { ...request, id: 'none' },
    { ...request, version: 2 },
    { ...request, workspaceId: 'other' },
  ]) {
    await expect(given.client.getTemplate(missing)).rejects.toMatchObject({
      code: Code.NotFound,
      rawMessage: 'Template not found',
    });
  }
});

test('a deleted template is gone, but a pinned version still answers', async () => {
  const request = createRequest();
  await given.client.createTemplate(request);
  await given.client.deleteTemplate(request);
  for (const version of [0, 1]) {
    await expect(given.client.getTemplate({ ...request, version })).rejects.toMatchObject({
      code: Code.NotFound,
    });
  }
  expect((await given.content.getTemplateContent({ ...request, version: 1 })).version).toBe(1);
});

test('list filters by category and channel, last changed first', async () => {
  const make = async (change: object) => {
    given.clock.now = new Date(given.clock.now.getTime() + 1_000);
    await given.client.createTemplate({ ...createRequest(), workspaceId: 'lists', ...change });
  };
  await make({ id: 'a' });
  await make({ id: 'b', category: TemplateCategory.WELCOME });
  await make({
    id: 'c',
    channel: TemplateChannel.WEB,
    email: undefined,
    web: { content: { a: 1 } },
  });
  const ids = async (filter: object) =>
    (await given.client.listTemplates({ workspaceId: 'lists', ...filter })).templates.map(
      ({ id }) => id,
    );
  expect(await ids({})).toEqual(['c', 'b', 'a']);
  expect(await ids({ category: TemplateCategory.WELCOME })).toEqual(['b']);
  expect(await ids({ channel: TemplateChannel.WEB })).toEqual(['c']);
  expect(await ids({ workspaceId: 'none' })).toEqual([]);
});

test('compile renders with data, and values are escaped unless raw', async () => {
  const answer = await given.client.compileTemplate({
    ...compiled,
    mjmlSource: mail('<mj-text>{{ a }} {{ a | raw }}</mj-text>'),
    subject: 'Hi {{ a }}',
    testData: { a: '<i>&</i>' },
  });
  expect(answer).toMatchObject({ success: true, subject: 'Hi <i>&</i>' });
  expect(answer.html).toContain('&lt;i&gt;&amp;&lt;/i&gt; <i>&</i>');
});

test('compile leaves Liquid as it is without data', async () => {
  const answer = await given.client.compileTemplate({
    ...compiled,
    mjmlSource: mail('<mj-text>{{ a }}</mj-text>'),
  });
  expect(answer.html).toContain('{{ a }}');
});

test.each([
  [
    { mjmlSource: mail('<mj-text>{% if %}</mj-text>'), testData: { a: 1 } },
    /invalid value expression/,
  ],
  [{ mjmlSource: mail('<mj-text>x'), testData: { a: 1 } }, /is not closed/],
  [{ mjmlSource: mail(''), subject: '{{ a' }, /not closed/],
])('compile answers a mistake in %j with success false', async (request, text) => {
  const answer = await given.client.compileTemplate({ ...compiled, ...request });
  expect(answer.success).toBe(false);
  expect(answer.error?.message).toMatch(text);
});

test('compile refuses a request without content', async () => {
  await expect(given.client.compileTemplate(compiled)).rejects.toMatchObject({
    code: Code.InvalidArgument,
  });
});

const million =
  '{% for a in (1..9999) %}{% for b in (1..9999) %}{% for c in (1..9999) %}{% endfor %}{% endfor %}{% endfor %}';
test.each([
  ['loops', million],
  ['empty loops over a huge range', '{% for i in (1..200000000) %}{% endfor %}'],
  ['a date format that is a bomb', "{{ 'now' | date: '%5000000d' }}"],
  ['doubling', `{% assign a = 'x' %}${'{% assign a = a | append: a %}'.repeat(40)}{{ a }}`],
])('%s end within 4 seconds and block no other request', async (_, liquid) => {
  let longestMs = 0;
  let lastMs = performance.now();
  const pulse = setInterval(() => {
    longestMs = Math.max(longestMs, performance.now() - lastMs);
    lastMs = performance.now();
  }, 10);
  const startMs = performance.now();
  const answer = await given.client.compileTemplate({
    ...compiled,
    mjmlSource: mail(`<mj-text>${liquid}</mj-text>`),
    testData: { x: 1 },
  });
  clearInterval(pulse);
  expect(answer.success).toBe(false);
  expect(performance.now() - startMs).toBeLessThan(4_000);
  expect(longestMs).toBeLessThan(500);
});

test('Liquid cannot read names of the prototype', async () => {
  const answer = await given.client.compileTemplate({
    ...compiled,
    mjmlSource: mail('<mj-text>[{{ a.__proto__ }}{{ a.constructor }}{{ constructor }}]</mj-text>'),
    testData: { a: {} },
  });
  expect(answer.html).toContain('[]');
});
