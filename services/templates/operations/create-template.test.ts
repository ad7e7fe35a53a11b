import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { TemplateChannel } from '#gen/postrider/templates/v1/templates_pb.ts';
import { createRequest, mail, useService } from '../test/given.ts';

const given = useService();

const refusal = (text: string | RegExp) => ({
  code: Code.InvalidArgument,
  rawMessage: typeof text === 'string' ? text : expect.stringMatching(text),
});

test('create makes version 1 and its content is MJML with its head', async () => {
  const request = createRequest();
  const { template } = await given.client.createTemplate(request);
  expect(template).toMatchObject({
    id: request.id,
    version: 1,
    name: 'Hello',
    email: { editorMode: 'code' },
  });
  const content = await given.content.getTemplateContent(request);
  expect(content).toMatchObject({ version: 1, subject: 'Hi {{ contact.first_name }}', html: '' });
  expect(content.mjml).toContain('Hello {{ contact.first_name }}');
});

test('create refuses an id that is taken', async () => {
  const request = createRequest();
  await given.client.createTemplate(request);
  await expect(given.client.createTemplate(request)).rejects.toMatchObject({
    code: Code.AlreadyExists,
    rawMessage: 'Template id already exists',
  });
});

const fine = createRequest().email;
test.each([
  [{ id: '' }, 'id is required'],
  [{ id: 'a'.repeat(33) }, 'id length must be between 1 and 32'],
  [{ id: 'a b' }, 'id must contain only letters, numbers, underscores, and hyphens'],
  [{ name: '' }, 'name is required'],
  [{ name: 'a'.repeat(33) }, 'name length must be between 1 and 32'],
  [{ channel: 0 }, 'channel is required'],
  [{ category: 0 }, 'category is required'],
  [{ email: undefined }, "email is required for channel 'email'"],
  [{ web: { content: {} } }, "web must be nil for channel 'email'"],
  [{ channel: TemplateChannel.WEB, email: undefined }, "web is required for channel 'web'"],
  [{ email: { ...fine, editorMode: 'word' } }, "editor_mode must be 'visual' or 'code'"],
  [{ email: { ...fine, subject: '' } }, 'subject is required'],
  [{ email: { ...fine, subject: 'a'.repeat(256) } }, 'subject length must be between 1 and 255'],
  [{ email: { ...fine, mjmlSource: '' } }, 'mjml_source is required for code mode'],
  [{ email: { subject: 'Hi' } }, 'visual_editor_tree is required for visual mode'],
  [
    { email: { subject: 'Hi', visualEditorTree: { type: 'mj-text' } } },
    "visual_editor_tree must have type 'mjml'",
  ],
  [{ email: { ...fine, replyTo: 'nobody' } }, 'reply_to is not a valid email'],
  [
    { email: { ...fine, subject: 'Hi {{ name' } },
    /^subject does not compile: output "{{ name" not closed/,
  ],
  [
    { email: { ...fine, mjmlSource: mail('<mj-text>{% if a %}</mj-text>') } },
    /^mjml_source does not compile: tag {% if a %} not closed/,
  ],
  [
    { email: { ...fine, mjmlSource: '<mjml><mj-body><mj-section></mjml>' } },
    /^mjml_source does not compile/,
  ],
  [{ email: { ...fine, mjmlSource: 'no markup' } }, /^mjml_source does not compile/],
  [
    { translations: { de: { email: fine } } },
    "translation language 'de' is not in workspace's configured languages",
  ],
  [{ translations: { fr: {} } }, 'a translation must have either email or web content'],
])('create refuses %j', async (change, text) => {
  const refused = given.client.createTemplate({ ...createRequest(), ...change } as never);
  await expect(refused).rejects.toMatchObject(refusal(text));
});

test.each([
  ['in text', '<mj-text>{{ a | default: "<b>&amp;" }}</mj-text>', '{{ a | default: "<b>&amp;" }}'],
  [
    'in a link',
    '<mj-button href="https://x.test/?q={{ a | url_encode }}&b=1">Go</mj-button>',
    '?q={{ a | url_encode }}',
  ],
  [
    'in quotes',
    `<mj-image src="{{ a | default: 'https://x.test/i.png' }}" />`,
    `{{ a | default: 'https://x.test/i.png' }}`,
  ],
  [
    'around text',
    '<mj-text>{% if a < 3 %}few{% else %}many{% endif %}</mj-text>',
    '{% if a < 3 %}few{% else %}many{% endif %}',
  ],
  ['raw', '<mj-text>{% raw %}{{ not }}{% endraw %}</mj-text>', '{% raw %}{{ not }}{% endraw %}'],
])('Liquid %s is kept byte for byte', async (_, body, kept) => {
  const request = createRequest(mail(body));
  await given.client.createTemplate(request);
  expect((await given.content.getTemplateContent(request)).mjml).toContain(kept);
});

test('Liquid that makes columns is kept', async () => {
  const source =
    '<mjml><mj-body><mj-section>{% for i in items %}<mj-column><mj-text>{{ i }}</mj-text></mj-column>{% endfor %}</mj-section></mj-body></mjml>';
  const request = createRequest(source);
  await given.client.createTemplate(request);
  const content = await given.content.getTemplateContent(request);
  expect(content.html).toBe('');
  expect(content.mjml).toContain('{% for i in items %}');
});

test('the content of a translation is compiled with the version', async () => {
  const request = createRequest();
  const email = { ...request.email, subject: 'Bonjour', senderId: 's2', replyTo: 'a@example.com' };
  const { template } = await given.client.createTemplate({
    ...request,
    translations: { fr: { email } },
  });
  expect(template?.translations.fr?.email?.subject).toBe('Bonjour');
  const own = await given.content.getTemplateContent(request);
  expect(own).toMatchObject({ subject: request.email.subject, languages: ['fr'] });
  const french = await given.content.getTemplateContent({ ...request, language: 'fr' });
  expect(french).toMatchObject({
    version: 1,
    subject: 'Bonjour',
    senderId: 's2',
    replyTo: 'a@example.com',
    languages: ['fr'],
  });
  expect(french.mjml).toContain('Hello {{ contact.first_name }}');
});

test('getTemplateContent does not find a language that the template is not translated into', async () => {
  const request = createRequest();
  await given.client.createTemplate(request);
  for (const language of ['fr', 'constructor']) {
    await expect(given.content.getTemplateContent({ ...request, language })).rejects.toMatchObject({
      code: Code.NotFound,
      rawMessage: 'the template is not translated into the language',
    });
  }
});

test('create refuses a translation that does not compile, and names it', async () => {
  const email = { ...fine, subject: 'Bonjour {{ nom' };
  const refused = given.client.createTemplate({
    ...createRequest(),
    translations: { fr: { email } },
  });
  await expect(refused).rejects.toMatchObject(refusal(/^subject does not compile/));
});

test('the preview line is in the mail', async () => {
  const request = createRequest();
  const email = { ...request.email, subjectPreview: 'Read {{ n }} & more' };
  await given.client.createTemplate({ ...request, email });
  expect((await given.content.getTemplateContent(request)).mjml).toContain(
    'Read {{ n }} &amp; more',
  );
});

test('a visual tree becomes MJML with its attributes and content', async () => {
  const visualEditorTree = {
    type: 'mjml',
    children: [
      {
        type: 'mj-body',
        children: [
          {
            type: 'mj-section',
            attributes: {
              backgroundColor: '#abcdef',
              visibility: 'all',
              fullWidth: true,
              padding: '',
            },
            children: [
              {
                type: 'mj-column',
                children: [{ type: 'mj-text', content: '<b>Hi</b> {{ contact.email }}' }],
              },
            ],
          },
        ],
      },
    ],
  };
  const request = { ...createRequest(), email: { subject: 'Hi', visualEditorTree } };
  const { template } = await given.client.createTemplate(request);
  expect(template?.email?.compiledPreview).toContain(
    '<mj-section background-color="#abcdef" full-width="full-width">',
  );
  expect(template?.email?.visualEditorTree).toEqual(visualEditorTree);
  const { mjml } = await given.content.getTemplateContent(request);
  expect(mjml).toContain('<b>Hi</b> {{ contact.email }}');
});

test('a tree that is too deep or has unknown blocks is refused', async () => {
  const deep = (levels: number): object =>
    levels === 0 ? { type: 'mj-text' } : { type: 'mj-wrapper', children: [deep(levels - 1)] };
  for (const [child, text] of [
    [deep(40), 'a tree is at most 32 blocks deep'],
    [{ type: 'script' }, 'unknown block type: script'],
  ] as const) {
    const visualEditorTree = { type: 'mjml', children: [child] };
    const refused = given.client.createTemplate({
      ...createRequest(),
      email: { subject: 'Hi', visualEditorTree } as never,
    });
    await expect(refused).rejects.toMatchObject(refusal(new RegExp(text)));
  }
});

test('files of the machine are never included', async () => {
  const request = createRequest(
    '<mjml><mj-body><mj-include path="/etc/passwd" /></mj-body></mjml>',
  );
  await expect(given.client.createTemplate(request)).rejects.toMatchObject(
    refusal('mjml_source does not compile: mj-include is not supported'),
  );
});

test('the same Idempotency-Key gives the first answer', async () => {
  const request = createRequest();
  const headers = { headers: { 'idempotency-key': 'key-1' } };
  const [first, twin] = await Promise.all([
    given.client.createTemplate(request, headers),
    given.client.createTemplate(request, headers),
  ]);
  expect(twin).toEqual(first);
});

test('a translation takes from the main content what it leaves out', async () => {
  const main = { ...fine, text: 'In English', subjectPreview: 'More', replyTo: 'us@example.com' };
  const translations = { fr: { email: { subject: 'Bonjour' } } };
  const first = { ...createRequest(), email: main, translations };
  const created = await given.client.createTemplate(first);
  expect(created.template?.translations.fr?.email).toMatchObject({
    subject: 'Bonjour',
    mjmlSource: '',
    text: '',
  });
  const french = await given.content.getTemplateContent({ ...first, language: 'fr' });
  expect(french).toMatchObject({
    subject: 'Bonjour',
    text: 'In English',
    replyTo: 'us@example.com',
  });
  expect(french.mjml).toContain('Hello {{ contact.first_name }}');
  const email = { editorMode: 'code', mjmlSource: mail('<mj-text>Salut</mj-text>') };
  const other = { ...createRequest(), email: main, translations: { fr: { email } } };
  await given.client.createTemplate(other);
  const body = await given.content.getTemplateContent({ ...other, language: 'fr' });
  expect(body).toMatchObject({ subject: fine.subject, text: '' });
  expect(body.mjml).toContain('Salut');
});
