import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import {
  type TemplateCategory,
  TemplateChannel,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import { createRequest, mail, useService } from '../test/given.ts';

const given = useService();

const later = () => {
  given.clock.now = new Date(given.clock.now.getTime() + 1_000);
};

test('update makes a new version, and mail that was pinned keeps its own', async () => {
  const request = createRequest();
  const first = await given.client.createTemplate(request);
  later();
  const email = { ...request.email, mjmlSource: mail('<mj-text>Second</mj-text>') };
  const { template } = await given.client.updateTemplate({ ...request, name: 'New', email });
  expect(template).toMatchObject({ version: 2, name: 'New', createdAt: first.template?.createdAt });
  expect(template?.updatedAt).not.toEqual(first.template?.updatedAt);
  expect((await given.client.getTemplate(request)).template).toEqual(template);
  expect((await given.client.getTemplate({ ...request, version: 1 })).template).toEqual(
    first.template,
  );
  expect((await given.content.getTemplateContent(request)).mjml).toContain('Second');
  const pinned = await given.content.getTemplateContent({ ...request, version: 1 });
  expect(pinned.mjml).toContain('Hello');
  const { templates } = await given.client.listTemplates(request);
  expect(templates.filter(({ id }) => id === request.id)).toEqual([template]);
});

test('update empties the fields that are left out', async () => {
  const request = createRequest();
  const more = { testData: { a: 1 }, settings: { b: 2 }, translations: { fr: request } };
  await given.client.createTemplate({ ...request, ...more });
  const { template } = await given.client.updateTemplate(request);
  expect(template).toMatchObject({ translations: {}, templateMacroId: '' });
  expect([template?.testData, template?.settings]).toEqual([undefined, undefined]);
});

test('parallel updates make one version each', async () => {
  const request = createRequest();
  await given.client.createTemplate(request);
  const names = Array.from({ length: 8 }, (_, index) => `Name ${index}`);
  const made = await Promise.all(
    names.map((name) => given.client.updateTemplate({ ...request, name })),
  );
  const versions = made.map(({ template }) => template?.version ?? 0);
  expect(versions.toSorted((a, b) => a - b)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
  for (const [index, name] of names.entries()) {
    const version = versions[index] ?? 0;
    expect((await given.client.getTemplate({ ...request, version })).template?.name).toBe(name);
  }
});

test('the same Idempotency-Key makes one version', async () => {
  const request = createRequest();
  await given.client.createTemplate(request);
  const headers = { headers: { 'idempotency-key': 'update-1' } };
  const both = [1, 2].map(() => given.client.updateTemplate(request, headers));
  const [first, twin] = await Promise.all(both);
  expect(twin).toEqual(first);
  expect(first?.template?.version).toBe(2);
});

test('update keeps the integration', async () => {
  const request = createRequest();
  await given.client.createTemplate(request);
  await given.context.store
    .fork()
    .execute(`update templates set integration_id = 'supabase' where id = ?`, [request.id]);
  const { template } = await given.client.updateTemplate(request);
  expect(template?.integrationId).toBe('supabase');
});

const tree = {
  type: 'mjml',
  children: [{ type: 'mj-body', children: [{ type: 'mj-section', children: [] }] }],
};

test.each([
  [
    { email: { subject: 'Hi', visualEditorTree: tree } },
    'email.editor_mode',
    "cannot change editor mode: template was created in 'code' mode",
  ],
  [
    { channel: TemplateChannel.WEB, email: undefined, web: { content: { a: 1 } } },
    'channel',
    "cannot change channel: template was created for 'email'",
  ],
  [
    { category: 10 as TemplateCategory },
    'category',
    'category must be one of marketing, transactional, welcome, opt_in, unsubscribe, bounce, blocklist, blog, other',
  ],
])('update refuses %j', async (change, _field, text) => {
  const request = createRequest();
  await given.client.createTemplate(request);
  await expect(
    given.client.updateTemplate({ ...request, ...change } as never),
  ).rejects.toMatchObject({ code: Code.InvalidArgument, rawMessage: text });
  expect((await given.client.getTemplate(request)).template?.version).toBe(1);
});

test('a template in visual mode stays in it', async () => {
  const request = { ...createRequest(), email: { subject: 'Hi', visualEditorTree: tree } };
  await given.client.createTemplate(request);
  const email = createRequest().email;
  await expect(given.client.updateTemplate({ ...request, email })).rejects.toMatchObject({
    rawMessage: "cannot change editor mode: template was created in 'visual' mode",
  });
  expect((await given.client.updateTemplate(request)).template?.version).toBe(2);
});

test('update finds no unknown, foreign or deleted template', async () => {
  const request = createRequest();
  await given.client.createTemplate(request);
  const gone = createRequest();
  await given.client.createTemplate(gone);
  await given.client.deleteTemplate(gone);
  for (const missing of [{ ...request, id: 'none' }, { ...request, workspaceId: 'other' }, gone]) {
    await expect(given.client.updateTemplate(missing)).rejects.toMatchObject({
      code: Code.NotFound,
      rawMessage: 'Template not found',
    });
  }
});
