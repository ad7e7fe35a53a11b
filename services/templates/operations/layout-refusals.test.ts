import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { TemplateChannel } from '#gen/postrider/templates/v1/templates_pb.ts';
import { createRequest, mail, useService } from '../test/given.ts';
import { frame, givenLayout, section, wrapped } from '../test/layouts.ts';

const given = useService();

test('mistakes are reported with their place in the source', async () => {
  const source = `<mjml>\n<mj-body>\n<mj-section>\n<mj-column>\n<mj-txt>x</mj-txt>\n</mj-column></mj-section></mj-body></mjml>`;
  await expect(
    given.client.createTemplate(wrapped(await givenLayout(given), source)),
  ).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage:
      "mjml_source does not compile: line 5 (mj-txt): Element mj-txt doesn't exist or is not registered",
  });
  const misplaced = '<mj-text>x</mj-text>';
  await expect(
    given.client.createTemplate(wrapped(await givenLayout(given), misplaced)),
  ).rejects.toMatchObject({
    rawMessage: expect.stringMatching(/^mjml_source does not compile: line 1 \(mj-text\): /),
  });
  for (const empty of ['<mjml></mjml>', '<mjml />']) {
    await expect(
      given.client.createTemplate(wrapped(await givenLayout(given), empty)),
    ).rejects.toMatchObject({ rawMessage: 'mjml_source does not compile: it has no mj-body' });
  }
});

test('text outside of a section is refused, since it would be lost', async () => {
  const layout = await givenLayout(given);
  for (const source of ['Hello', `${section('x')} {{ a }} and more`, '{% if a %}b{% endif %}']) {
    await expect(given.client.createTemplate(wrapped(layout, source))).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: 'mjml_source does not compile: text stands outside of sections',
    });
  }
  const sections = `{% if a %}${section('x')}{% endif %} {{ more }}`;
  await given.client.createTemplate(wrapped(layout, sections));
});

test('where Liquid stands around blocks, a mistake is named by its tag', async () => {
  const layout = await givenLayout(
    given,
    frame.replace('{{ content }}', '{% if a %}x{% endif %}{{ content }}'),
  );
  await expect(
    given.client.createTemplate(wrapped(layout, '<mj-txt>x</mj-txt>')),
  ).rejects.toMatchObject({
    rawMessage: expect.stringMatching(/^mjml_source does not compile: .*\bmj-txt\b/),
  });
});

test.each([
  [
    'nothing',
    mail('<mj-text>x</mj-text>'),
    'does not hold {{ content }} in its mj-body, where sections may stand',
  ],
  [
    'it in a text',
    mail('<mj-text>{{ content }}</mj-text>'),
    'does not hold {{ content }} in its mj-body, where sections may stand',
  ],
  [
    'it in verbatim Liquid',
    frame.replace('{{ content }}', '{% raw %}{{ content }}{% endraw %}'),
    'does not hold {{ content }} in its mj-body, where sections may stand',
  ],
  [
    'it twice',
    frame.replace('{{ content }}', '{{ content }}{{content}}'),
    'holds {{ content }} more than once',
  ],
])('a layout that holds %s is refused', async (_, source, text) => {
  const id = await givenLayout(given, source);
  await expect(given.client.createTemplate(wrapped(id))).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: `layout '${id}' ${text}`,
  });
});

test('a layout must be another email template without a layout, in the workspace', async () => {
  const layout = await givenLayout(given);
  const page = { ...createRequest(), channel: TemplateChannel.WEB, email: undefined };
  const web = { content: { a: 1 } };
  await given.client.createTemplate({ ...page, web });
  const nested = wrapped(layout, `${section('Above')}{{ content }}`);
  await given.client.createTemplate(nested);
  const own = createRequest(frame);
  await given.client.createTemplate(own);
  const foreign = { ...createRequest(frame), workspaceId: 'other' };
  await given.client.createTemplate(foreign);
  const update = given.client.updateTemplate({ ...own, templateMacroId: own.id });
  await expect(update).rejects.toMatchObject({
    rawMessage: 'a template cannot be its own layout',
  });
  for (const [id, text] of [
    ['none', "layout 'none' not found"],
    [foreign.id, `layout '${foreign.id}' not found`],
    [page.id, `layout '${page.id}' is not an email template`],
    [nested.id, `layout '${nested.id}' has a layout itself`],
  ] as const) {
    await expect(given.client.createTemplate(wrapped(id))).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: text,
    });
  }
  const withLayout = { ...createRequest(), channel: TemplateChannel.WEB, email: undefined, web };
  await expect(
    given.client.createTemplate({ ...withLayout, templateMacroId: layout }),
  ).rejects.toMatchObject({ rawMessage: 'only email templates have a layout' });
});

test('a layout is used by its templates, and only by their newest versions', async () => {
  const layout = await givenLayout(given);
  const key = { workspaceId: 'acme', id: layout };
  const request = wrapped(layout);
  await given.client.createTemplate(request);
  await expect(given.client.deleteTemplate(key)).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage: `template is used by template '${request.id}'`,
  });
  await given.client.updateTemplate({ ...request, templateMacroId: '' });
  await given.client.deleteTemplate(key);
  await expect(
    given.client.restoreTemplateVersion({ ...request, version: 1 }),
  ).rejects.toMatchObject({ rawMessage: `layout '${layout}' not found` });
});

test('a layout that is deleted meanwhile is refused', async () => {
  for (let round = 0; round < 5; round += 1) {
    const layout = await givenLayout(given);
    const [made, deleted] = await Promise.allSettled([
      given.client.createTemplate(wrapped(layout)),
      given.client.deleteTemplate({ workspaceId: 'acme', id: layout }),
    ]);
    expect([made.status, deleted.status].toSorted()).toEqual(['fulfilled', 'rejected']);
  }
});
