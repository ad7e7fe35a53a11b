import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { createRequest, mail, useService } from '../test/given.ts';

const preview = { workspaceId: 'acme', messageId: 'm1' };
const given = useService();

async function mjmlOf(request: ReturnType<typeof createRequest>, language = ''): Promise<string> {
  await given.client.createTemplate(request);
  const { workspaceId, id } = request;
  return (await given.content.getTemplateContent({ workspaceId, id, language })).mjml;
}

test.each([
  [
    mail('\n<mj-txt>Hi</mj-txt>'),
    "line 2 (mj-txt): Element mj-txt doesn't exist or is not registered",
  ],
  [
    mail('<mj-text>{% comment %}\n\n{% endcomment %}</mj-text>\n<mj-text colour="red">x</mj-text>'),
    'line 4 (mj-text): Attribute colour is illegal',
  ],
  [
    mail('{{ x }}<mj-txt></mj-txt>'),
    "line 1 (mj-txt): Element mj-txt doesn't exist or is not registered",
  ],
  [mail('<mj-text>{{ contact.first_name | upcas }}</mj-text>'), /undefined filter: upcas/],
  [mail('<mj-include path="/etc/passwd" />'), 'mj-include is not supported'],
])('create refuses %s, and compile says the same', async (mjml, fault) => {
  const text = typeof fault === 'string' ? `mjml_source does not compile: ${fault}` : fault;
  await expect(given.client.createTemplate(createRequest(mjml))).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: typeof text === 'string' ? text : expect.stringMatching(text),
  });
  const { success, error } = await given.client.compileTemplate({
    ...preview,
    mjmlSource: mjml,
  });
  expect(success).toBe(false);
  expect(error?.message).toMatch(fault);
});

test('compile names each issue with its place, and what it leaves out of a visual tree as a warning', async () => {
  const mjmlSource = mail('<mj-txt>a</mj-txt>\n<mj-text colour="red">b</mj-text>');
  const { error } = await given.client.compileTemplate({ ...preview, mjmlSource });
  expect(error?.issues).toMatchObject([
    { line: 1, tag: 'mj-txt' },
    { line: 2, tag: 'mj-text' },
  ]);
  const text = { type: 'mj-text', content: 'Hi', attributes: { editorNote: 'x' } };
  const column = { type: 'mj-column', children: [text] };
  const body = { type: 'mj-body', children: [{ type: 'mj-section', children: [column] }] };
  const { success, warnings } = await given.client.compileTemplate({
    ...preview,
    visualEditorTree: { type: 'mjml', children: [body] },
  });
  expect(success).toBe(true);
  expect(warnings).toMatchObject([{ tag: 'mj-text', message: 'Attribute editor-note is illegal' }]);
});

test("the mail's title is its author's, else its subject, and never the template's name", async () => {
  const untitled = await mjmlOf(createRequest());
  expect(untitled).toContain('<mj-title>{{ mail_subject }}</mj-title>');
  expect(untitled).not.toContain('Hello</mj-title>');
  const head = '<mj-head><mj-title>Ours</mj-title></mj-head>';
  const titled = mail('<mj-text>x</mj-text>').replace('<mjml>', `<mjml>${head}`);
  expect(await mjmlOf(createRequest(titled))).toContain('<mj-title>Ours</mj-title>');
});

test("the mail's language is its author's, else the translation's, else the workspace's", async () => {
  const request = createRequest();
  const translated = { ...request, translations: { fr: { email: request.email } } };
  expect(await mjmlOf(translated)).toContain('<mjml lang="en"');
  const { workspaceId, id } = request;
  const french = await given.content.getTemplateContent({ workspaceId, id, language: 'fr' });
  expect(french.mjml).toContain('<mjml lang="fr"');
  const own = mail('<mj-text>x</mj-text>').replace('<mjml>', '<mjml lang="de">');
  expect(await mjmlOf(createRequest(own))).toContain('<mjml lang="de"');
});

test.each([
  ['<mj-title', 'mjml'],
  ['{{', 'mjml'],
  ['{% raw %}', 'mjml'],
  ['<!--', 'mjml'],
  ['<a "', 'mjml'],
  ['{{', 'tree'],
] as const)('the event loop goes on while 400 KB of %j are compiled as %s', async (piece, kind) => {
  const text = piece.repeat(400_000 / piece.length);
  const visualEditorTree = { type: 'mjml', children: [{ type: 'mj-text', content: text }] };
  const source = kind === 'mjml' ? { mjmlSource: mail(text) } : { visualEditorTree };
  await given.client.compileTemplate({ ...preview, mjmlSource: mail('') });
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  await given.client.compileTemplate({ ...preview, ...source });
  delay.disable();
  // The machine itself stands still for some tenths of a second at times; these took from seconds
  // to minutes.
  expect(delay.max / 1_000_000).toBeLessThan(1_000);
});

test('parallel creations never pass the limit of templates', async () => {
  const { store } = given.context;
  const workspaceId = 'crowded';
  await store.fork().execute(
    `insert into templates (workspace_id, id, version, name, channel, category, template_macro_id, integration_id,
       translations, compiled_translations, created_at, updated_at)
     select ?, 't' || n, 1, 'T', 'web', 'other', '', '', '{}', '{}', now(), now() from generate_series(1, 999) n`,
    [workspaceId],
  );
  const both = await Promise.allSettled(
    [1, 2, 3].map(() => given.client.createTemplate({ ...createRequest(), workspaceId })),
  );
  expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});
