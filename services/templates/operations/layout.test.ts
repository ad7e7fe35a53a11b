import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { TemplateChannel } from '#gen/postrider/templates/v1/templates_pb.ts';
import { createRequest, mail, useService } from '../test/given.ts';

const given = useService();

const section = (text: string) =>
  `<mj-section><mj-column><mj-text>${text}</mj-text></mj-column></mj-section>`;
const frame = `<mjml>
<mj-head>
<mj-title>Layout</mj-title>
<mj-attributes><mj-text color="#111111" /></mj-attributes>
<mj-style>.layout { color: red }</mj-style>
</mj-head>
<mj-body background-color="#eeeeee">
${section('Above')}
{{ content }}
${section('Below')}
</mj-body>
</mjml>`;

async function givenLayout(source = frame): Promise<string> {
  const request = createRequest(source);
  await given.client.createTemplate(request);
  return request.id;
}

const wrapped = (templateMacroId: string, source?: string) => ({
  ...createRequest(source),
  templateMacroId,
});

async function htmlOf(request: ReturnType<typeof wrapped>, language = ''): Promise<string> {
  await given.client.createTemplate(request);
  const { workspaceId, id } = request;
  return (await given.content.getTemplateContent({ workspaceId, id, language })).html;
}

test("a template's sections stand in the place of its layout's content", async () => {
  const request = wrapped(await givenLayout(), mail('<mj-text>Own {{ a }}</mj-text>'));
  const html = await htmlOf(request);
  expect(html).toMatch(/Above[\s\S]*Own \{\{ a \}\}[\s\S]*Below/);
  expect(html).toContain('#eeeeee');
  expect(html).not.toContain('{{ content }}');
  const { template } = await given.client.getTemplate(request);
  expect(template).toMatchObject({ templateMacroVersion: 1 });
  expect(template?.email?.compiledPreview).toContain('Above');
});

test('a source without mjml stands in the layout as a whole', async () => {
  const html = await htmlOf(wrapped(await givenLayout(), section('Only')));
  expect(html).toMatch(/Above[\s\S]*Only[\s\S]*Below/);
});

test('the heads of both are merged, and that of the template wins', async () => {
  const head = `<mj-head><mj-title>Own</mj-title><mj-attributes><mj-text color="#222222" /></mj-attributes>
    <mj-style>.own { color: blue }</mj-style></mj-head>`;
  const source = mail('<mj-text>x</mj-text>').replace('<mjml>', `<mjml lang="de">${head}`);
  const html = await htmlOf(wrapped(await givenLayout(), source));
  expect(html).toContain('<title>Own</title>');
  expect(html).toContain('lang="de"');
  expect(html).toMatch(/\.layout[\s\S]*\.own/);
  expect(html).toContain('#222222');
  expect(html).not.toContain('#111111');
  const plain = await htmlOf(wrapped(await givenLayout()));
  expect(plain).toContain('<title>Layout</title>');
  expect(plain).toContain('#111111');
  expect(plain).toContain('lang="en"');
});

test.each([
  ['no head', frame.replace(/<mj-head>[\s\S]*<\/mj-head>/, '')],
  ['an empty head', frame.replace(/<mj-head>[\s\S]*<\/mj-head>/, '<mj-head />')],
  ['a language', frame.replace('<mjml>', '<mjml lang="it">')],
  [
    'a wrapper',
    frame.replace('{{ content }}', '<mj-wrapper padding="0">{{- content -}}</mj-wrapper>'),
  ],
])('a layout with %s wraps', async (_, source) => {
  const head = '<mj-head><mj-style>.own { color: blue }</mj-style></mj-head>';
  const own = mail('<mj-text>Own</mj-text>').replace('<mjml>', `<mjml>${head}`);
  const html = await htmlOf(wrapped(await givenLayout(source), own));
  expect(html).toMatch(/\.own[\s\S]*Above[\s\S]*Own[\s\S]*Below/);
  expect(html).toContain('lang="en"');
});

test('the preview line of a mail is its own, else that of its layout', async () => {
  const source = frame.replace('</mj-head>', '<mj-preview>Layout says</mj-preview></mj-head>');
  const layout = await givenLayout(source);
  expect(await htmlOf(wrapped(layout))).toContain('Layout says');
  const request = wrapped(layout);
  const email = { ...request.email, subjectPreview: 'I say' };
  const html = await htmlOf({ ...request, email });
  expect(html).toContain('I say');
  expect(html).not.toContain('Layout says');
});

test('trees wrap and are wrapped', async () => {
  const tree = (children: object[]) => ({
    type: 'mjml',
    children: [{ type: 'mj-body', children }],
  });
  const text = (content: string) => ({
    type: 'mj-section',
    children: [{ type: 'mj-column', children: [{ type: 'mj-text', content }] }],
  });
  const visual = (children: object[]) => ({ subject: 'Hi', visualEditorTree: tree(children) });
  const layout = {
    ...createRequest(),
    email: visual([text('Above'), { type: 'mj-liquid', content: '{{ content }}' }]),
  };
  await given.client.createTemplate(layout as never);
  const request = { ...wrapped(layout.id), email: visual([text('Own')]) };
  expect(await htmlOf(request as never)).toMatch(/Above[\s\S]*Own/);
});

test('Liquid around the parts of a template works in a layout', async () => {
  const source = `{% assign word = "Hi" %}${mail('<mj-text>{{ word }}</mj-text>')}`;
  const request = wrapped(await givenLayout(), source);
  await given.client.createTemplate(request);
  const { mjml } = await given.content.getTemplateContent(request);
  expect(mjml).toMatch(/^\{% assign word = "Hi" %\}\n<mjml[\s\S]*Above[\s\S]*\{\{ word \}\}/);
});

test('a version keeps the layout that it was made with', async () => {
  const layout = createRequest(frame);
  await given.client.createTemplate(layout);
  const request = wrapped(layout.id);
  await given.client.createTemplate(request);
  const email = { ...layout.email, mjmlSource: frame.replace('Above', 'Changed') };
  await given.client.updateTemplate({ ...layout, email });
  expect((await given.content.getTemplateContent(request)).html).toContain('Above');
  const { template } = await given.client.updateTemplate(request);
  expect(template).toMatchObject({ version: 2, templateMacroVersion: 2 });
  expect((await given.content.getTemplateContent(request)).html).toContain('Changed');
});

test('a translation stands in the layout of its language', async () => {
  const layout = createRequest(frame);
  const french = { ...layout.email, mjmlSource: frame.replace('Above', 'Dessus') };
  await given.client.createTemplate({ ...layout, translations: { fr: { email: french } } });
  const request = wrapped(layout.id);
  const translations = { fr: { email: request.email } };
  expect(await htmlOf({ ...request, translations } as never, 'fr')).toContain('Dessus');
});

test('mistakes are reported with their place in the source', async () => {
  const source = `<mjml>\n<mj-body>\n<mj-section>\n<mj-column>\n<mj-txt>x</mj-txt>\n</mj-column></mj-section></mj-body></mjml>`;
  await expect(
    given.client.createTemplate(wrapped(await givenLayout(), source)),
  ).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage:
      "mjml_source does not compile: line 5 (mj-txt): Element mj-txt doesn't exist or is not registered",
  });
  const misplaced = '<mj-text>x</mj-text>';
  await expect(
    given.client.createTemplate(wrapped(await givenLayout(), misplaced)),
  ).rejects.toMatchObject({
    rawMessage: expect.stringMatching(/^mjml_source does not compile: line 1 \(mj-text\): /),
  });
  await expect(
    given.client.createTemplate(wrapped(await givenLayout(), '<mjml></mjml>')),
  ).rejects.toMatchObject({ rawMessage: 'mjml_source does not compile: it has no mj-body' });
});

test('text outside of a section is refused, since it would be lost', async () => {
  const layout = await givenLayout();
  for (const source of ['Hello', `${section('x')} {{ a }} and more`, '{% if a %}b{% endif %}']) {
    await expect(given.client.createTemplate(wrapped(layout, source))).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: 'mjml_source does not compile: text stands outside of sections',
    });
  }
  const sections = `{% if a %}${section('x')}{% endif %} {{ more }}`;
  await given.client.createTemplate(wrapped(layout, sections));
});

test('where Liquid makes blocks, a mistake is named by its tag', async () => {
  const layout = await givenLayout(
    frame.replace('{{ content }}', '{% if a %}x{% endif %}{{ content }}'),
  );
  await expect(
    given.client.createTemplate(wrapped(layout, '<mj-txt>x</mj-txt>')),
  ).rejects.toMatchObject({
    rawMessage: expect.stringMatching(/^mjml_source does not compile: mj-txt: /),
  });
});

test('a large template in a large layout compiles', async () => {
  const words = section('word '.repeat(60_000));
  const layout = await givenLayout(frame.replace('{{ content }}', `${words}{{ content }}`));
  const html = await htmlOf(wrapped(layout, words));
  expect(html.length).toBeGreaterThan(600_000);
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
    'it twice',
    frame.replace('{{ content }}', '{{ content }}{{content}}'),
    'holds {{ content }} more than once',
  ],
])('a layout that holds %s is refused', async (_, source, text) => {
  const id = await givenLayout(source);
  await expect(given.client.createTemplate(wrapped(id))).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: `layout '${id}' ${text}`,
  });
});

test('a layout must be another email template without a layout, in the workspace', async () => {
  const layout = await givenLayout();
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
  const layout = await givenLayout();
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
    const layout = await givenLayout();
    const [made, deleted] = await Promise.allSettled([
      given.client.createTemplate(wrapped(layout)),
      given.client.deleteTemplate({ workspaceId: 'acme', id: layout }),
    ]);
    expect([made.status, deleted.status].toSorted()).toEqual(['fulfilled', 'rejected']);
  }
});
