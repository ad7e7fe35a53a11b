import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { TemplateChannel } from '#gen/postrider/templates/v1/templates_pb.ts';
import { createRequest, useService } from '../test/given.ts';

const given = useService();

const page = (web: object, translations: object = {}) =>
  ({
    ...createRequest(),
    channel: TemplateChannel.WEB,
    email: undefined,
    web,
    translations,
  }) as never;
const content = { type: 'doc', blocks: [{ a: 1 }] };

test('a page is stored with its translations', async () => {
  const web = { content, html: '<p>{{ contact.email }}</p>', plainText: '{{ contact.email }}' };
  const { template } = await given.client.createTemplate(page(web, { fr: { web } }));
  expect(template).toMatchObject({ web, translations: { fr: { web } } });
});

const large = 'x'.repeat(500 * 1024 + 1);

test.each([
  [{}, {}, 'content is required'],
  [{ content: {} }, {}, 'content is required'],
  [{ content: { a: large } }, {}, 'content is larger than 500 KiB'],
  [{ content, html: large }, {}, 'html is larger than 500 KiB'],
  [{ content, plainText: large }, {}, 'plain_text is larger than 500 KiB'],
  [{ content, html: '{% if %}' }, {}, /^html does not compile: /],
  [{ content, plainText: '{{ a' }, {}, /^plain_text does not compile: /],
  [{ content }, { fr: {} }, 'a translation must have either email or web content'],
  [{ content }, { fr: { web: { content, html: '{{ a' } } }, /^html does not compile: /],
  [
    { content },
    { fr: { email: createRequest().email } },
    'email content not allowed for web channel',
  ],
  [
    { content },
    { de: { web: { content } } },
    "translation language 'de' is not in workspace's configured languages",
  ],
])('page %# is refused', async (web, translations, text) => {
  await expect(given.client.createTemplate(page(web, translations))).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: typeof text === 'string' ? text : expect.stringMatching(text),
  });
});

test('a translation of a page takes from the main content what it leaves out', async () => {
  const web = { content: { a: 1 }, html: '<p>Hi</p>', plainText: 'Hi' };
  const { template } = await given.client.createTemplate(page(web, { fr: { web: {} } }));
  expect(template?.translations.fr?.web).toMatchObject({ html: '', plainText: '' });
});
