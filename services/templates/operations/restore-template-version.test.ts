import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { TemplateChannel } from '#gen/postrider/templates/v1/templates_pb.ts';
import { createRequest, mail, useService } from '../test/given.ts';

const given = useService();

test('restore makes a new version with the content of an earlier one', async () => {
  const request = { ...createRequest(), testData: { a: { b: [1] } }, settings: { c: true } };
  const translations = { fr: { email: { ...request.email, subject: 'Bonjour' } } };
  const first = await given.client.createTemplate({ ...request, translations });
  const email = { ...request.email, mjmlSource: mail('<mj-text>Second</mj-text>') };
  await given.client.updateTemplate({ ...request, name: 'Second', email });
  const { workspaceId, id } = request;
  const { template } = await given.client.restoreTemplateVersion({ workspaceId, id, version: 1 });
  expect(template).toEqual({ ...first.template, version: 3, updatedAt: template?.updatedAt });
  expect((await given.content.getTemplateContent({ workspaceId, id })).mjml).toContain('Hello');
  const french = await given.content.getTemplateContent({ workspaceId, id, language: 'fr' });
  expect(french.subject).toBe('Bonjour');
});

test('restore brings back a page', async () => {
  const web = { content: { blocks: [1] }, html: '<p>{{ a }}</p>' };
  const request = { ...createRequest(), channel: TemplateChannel.WEB, email: undefined, web };
  await given.client.createTemplate(request);
  await given.client.updateTemplate({ ...request, web: { content: { a: 1 } } });
  const { template } = await given.client.restoreTemplateVersion({ ...request, version: 1 });
  expect(template?.web).toMatchObject(web);
});

test('restore finds no unknown version, nor one of a deleted template', async () => {
  const request = createRequest();
  await given.client.createTemplate(request);
  const asked = { workspaceId: request.workspaceId, id: request.id };
  const notFound = { code: Code.NotFound, rawMessage: 'Template not found' };
  await expect(given.client.restoreTemplateVersion({ ...asked, version: 2 })).rejects.toMatchObject(
    notFound,
  );
  await given.client.deleteTemplate(asked);
  await given.client.createTemplate(request);
  await expect(given.client.restoreTemplateVersion({ ...asked, version: 1 })).rejects.toMatchObject(
    notFound,
  );
});

test('a version that no longer compiles is not restored', async () => {
  const request = createRequest();
  const french = { ...request, translations: { fr: { email: request.email } } };
  await given.client.createTemplate(french);
  await given.client.updateTemplate(request);
  await given.context.store.fork().execute(
    `update templates set translations = jsonb_build_object('de', translations -> 'fr')
       where id = ? and version = 1`,
    [request.id],
  );
  await expect(
    given.client.restoreTemplateVersion({ ...request, version: 1 }),
  ).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: "translation language 'de' is not in workspace's configured languages",
  });
});
