import { expect, test } from '@jest/globals';
import { mjmlToHtml } from '#lib/mail/mjml.ts';
import { createRequest, mail, useService } from '../test/given.ts';
import { frame, givenLayout, section, wrapped } from '../test/layouts.ts';

const given = useService();

async function htmlOf(request: ReturnType<typeof wrapped>, language = ''): Promise<string> {
  await given.client.createTemplate(request);
  const { workspaceId, id } = request;
  const { mjml } = await given.content.getTemplateContent({ workspaceId, id, language });
  return (await mjmlToHtml(mjml)).html;
}

test("a template's sections stand in the place of its layout's content", async () => {
  const request = wrapped(await givenLayout(given), mail('<mj-text>Own {{ a }}</mj-text>'));
  const html = await htmlOf(request);
  expect(html).toMatch(/Above[\s\S]*Own \{\{ a \}\}[\s\S]*Below/);
  expect(html).toContain('#eeeeee');
  expect(html).not.toContain('{{ content }}');
  const { template } = await given.client.getTemplate(request);
  expect(template).toMatchObject({ templateMacroVersion: 1 });
  expect(template?.email?.compiledPreview).toContain('Above');
});

test('a source without mjml stands in the layout as a whole', async () => {
  const html = await htmlOf(wrapped(await givenLayout(given), section('Only')));
  expect(html).toMatch(/Above[\s\S]*Only[\s\S]*Below/);
});

test('the heads of both are merged, and that of the template wins', async () => {
  const head = `<mj-head><mj-title>Own</mj-title><mj-attributes><mj-text color="#222222" /></mj-attributes>
    <mj-style>.own { color: blue }</mj-style></mj-head>`;
  const source = mail('<mj-text>x</mj-text>').replace('<mjml>', `<mjml lang="de">${head}`);
  const html = await htmlOf(wrapped(await givenLayout(given), source));
  expect(html).toContain('<title>Own</title>');
  expect(html).toContain('lang="de"');
  expect(html).toMatch(/\.layout[\s\S]*\.own/);
  expect(html).toContain('#222222');
  expect(html).not.toContain('#111111');
  const plain = await htmlOf(wrapped(await givenLayout(given)));
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
  const html = await htmlOf(wrapped(await givenLayout(given, source), own));
  expect(html).toMatch(/\.own[\s\S]*Above[\s\S]*Own[\s\S]*Below/);
  expect(html).toContain('lang="en"');
});

test('the preview line of a mail is its own, else that of its layout', async () => {
  const source = frame.replace('</mj-head>', '<mj-preview>Layout says</mj-preview></mj-head>');
  const layout = await givenLayout(given, source);
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
  const request = wrapped(await givenLayout(given), source);
  await given.client.createTemplate(request);
  const { html, mjml } = await given.content.getTemplateContent(request);
  expect(html || mjml).toMatch(/^\{% assign word = "Hi" %\}[\s\S]*Above[\s\S]*\{\{ word \}\}/);
});

test('a version keeps the layout that it was made with', async () => {
  const layout = createRequest(frame);
  await given.client.createTemplate(layout);
  const request = wrapped(layout.id);
  await given.client.createTemplate(request);
  const email = { ...layout.email, mjmlSource: frame.replace('Above', 'Changed') };
  await given.client.updateTemplate({ ...layout, email });
  expect((await given.content.getTemplateContent(request)).mjml).toContain('Above');
  const { template } = await given.client.updateTemplate(request);
  expect(template).toMatchObject({ version: 2, templateMacroVersion: 2 });
  expect((await given.content.getTemplateContent(request)).mjml).toContain('Changed');
});

test('a translation stands in the layout of its language', async () => {
  const layout = createRequest(frame);
  const french = { ...layout.email, mjmlSource: frame.replace('Above', 'Dessus') };
  await given.client.createTemplate({ ...layout, translations: { fr: { email: french } } });
  const request = wrapped(layout.id);
  const translations = { fr: { email: request.email } };
  expect(await htmlOf({ ...request, translations } as never, 'fr')).toContain('Dessus');
});

test('a large template in a large layout compiles', async () => {
  const words = section('word '.repeat(60_000));
  const layout = await givenLayout(given, frame.replace('{{ content }}', `${words}{{ content }}`));
  const html = await htmlOf(wrapped(layout, words));
  expect(html.length).toBeGreaterThan(600_000);
});

test('templates.compile shows content in its layout', async () => {
  const layout = await givenLayout(given);
  const { workspaceId, ...request } = wrapped(layout, mail('<mj-text>Own</mj-text>'));
  const asked = {
    workspaceId,
    messageId: 'm',
    mjmlSource: request.email?.mjmlSource ?? '',
    templateMacroId: layout,
  };
  const { success, html } = await given.client.compileTemplate(asked);
  expect([success, html]).toEqual([true, expect.stringMatching(/Above[\s\S]*Own/)]);
  await expect(
    given.client.compileTemplate({ ...asked, templateMacroId: 'nothing' }),
  ).rejects.toMatchObject({ rawMessage: "layout 'nothing' not found" });
});
