import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { createRequest, mail, useService } from '../test/given.ts';

const given = useService();

const notFound = { code: Code.NotFound, rawMessage: 'Template not found' };
const refused = (text: string) => ({ code: Code.FailedPrecondition, rawMessage: text });

async function givenTemplate(over: object = {}) {
  const request = { ...createRequest(), ...over };
  await given.client.createTemplate(request);
  return request;
}

test('a deleted template is gone from every read, and pinned versions still answer', async () => {
  const request = await givenTemplate();
  await given.client.updateTemplate(request);
  expect(await given.client.deleteTemplate(request)).toMatchObject({ success: true });
  const { workspaceId, id } = request;
  for (const version of [0, 1, 2]) {
    await expect(given.client.getTemplate({ ...request, version })).rejects.toMatchObject(notFound);
  }
  await expect(given.client.listTemplateVersions({ workspaceId, id })).rejects.toMatchObject(
    notFound,
  );
  const versions = { workspaceId, id, from: 1, to: 2 };
  await expect(given.client.compareTemplateVersions(versions)).rejects.toMatchObject(notFound);
  await expect(
    given.client.restoreTemplateVersion({ workspaceId, id, version: 1 }),
  ).rejects.toMatchObject(notFound);
  await expect(given.content.getTemplateContent({ workspaceId, id })).rejects.toMatchObject(
    notFound,
  );
  await expect(given.client.deleteTemplate({ workspaceId, id })).rejects.toMatchObject(notFound);
  const { templates } = await given.client.listTemplates({ workspaceId });
  expect(templates.map((each) => each.id)).not.toContain(id);
  const pinned = await given.content.getTemplateContent({ workspaceId, id, version: 1 });
  expect(pinned.version).toBe(1);
});

test('the id of a deleted template is free, and its versions follow', async () => {
  const request = await givenTemplate();
  await given.client.updateTemplate(request);
  await given.client.deleteTemplate(request);
  const email = { ...request.email, mjmlSource: mail('<mj-text>Again</mj-text>') };
  const { template } = await given.client.createTemplate({ ...request, email });
  expect(template?.version).toBe(3);
  const old = await given.content.getTemplateContent({ ...request, version: 2 });
  expect(old.mjml).toContain('Hello');
  await expect(given.client.getTemplate({ ...request, version: 2 })).rejects.toMatchObject(
    notFound,
  );
  const { versions } = await given.client.listTemplateVersions(request);
  expect(versions.map(({ version }) => version)).toEqual([3]);
});

test('a template that is used is not deleted, and its users are named', async () => {
  const request = await givenTemplate();
  const { workspaceId, id } = request;
  const use = (kind: string, user: string, name: string, templateIds = [id]) =>
    given.uses.setTemplateUses({ workspaceId, kind, id: user, name, templateIds });
  await use('list', 'l1', 'news');
  await use('notification', 'receipt', '');
  await expect(given.client.deleteTemplate(request)).rejects.toMatchObject(
    refused("template is used by notification 'receipt', list 'news'"),
  );
  for (let index = 1; index <= 5; index += 1) await use('broadcast', `b${index}`, `Mail ${index}`);
  await expect(given.client.deleteTemplate(request)).rejects.toMatchObject(
    refused(
      "template is used by notification 'receipt', list 'news', broadcast 'Mail 1', broadcast 'Mail 2', broadcast 'Mail 3' and 2 more",
    ),
  );
  await use('list', 'l1', 'news', []);
  await use('notification', 'receipt', '', []);
  for (let index = 1; index <= 5; index += 1) await use('broadcast', `b${index}`, '', []);
  await given.client.deleteTemplate(request);
});

test("uses of one workspace do not hold another's template", async () => {
  const request = await givenTemplate();
  const foreign = await givenTemplate({ id: request.id, workspaceId: 'other' });
  const list = { kind: 'list', id: 'l1', name: 'news', templateIds: [request.id] };
  await given.uses.setTemplateUses({ ...list, workspaceId: 'other' });
  await given.client.deleteTemplate(request);
  await expect(given.client.deleteTemplate(foreign)).rejects.toMatchObject(
    refused("template is used by list 'news'"),
  );
});

test('a template of an integration is not deleted', async () => {
  const request = await givenTemplate();
  await given.context.store
    .fork()
    .execute(`update templates set integration_id = 'supabase' where id = ?`, [request.id]);
  await expect(given.client.deleteTemplate(request)).rejects.toMatchObject(
    refused(
      'cannot delete integration-managed template: template is managed by integration supabase',
    ),
  );
});

test('parallel deletions and uses: a template that is used is there', async () => {
  for (let round = 0; round < 10; round += 1) {
    const request = await givenTemplate();
    const list = { kind: 'list', id: request.id, name: 'L', templateIds: [request.id] };
    const { workspaceId } = request;
    const [used, deleted] = await Promise.allSettled([
      given.uses.setTemplateUses({ ...list, workspaceId }),
      given.client.deleteTemplate(request),
    ]);
    expect([used.status, deleted.status].toSorted()).toEqual(['fulfilled', 'rejected']);
  }
});

test('parallel creations and deletions of one id leave at most one, and lose no version', async () => {
  const request = createRequest();
  const calls = Array.from({ length: 12 }, (_, index) =>
    index % 2 === 0 ? given.client.createTemplate(request) : given.client.deleteTemplate(request),
  );
  const ended = await Promise.allSettled(calls);
  const codes = ended.map((each) => (each.status === 'rejected' ? each.reason.code : 0));
  expect(codes.filter((code) => ![0, Code.NotFound, Code.AlreadyExists].includes(code))).toEqual(
    [],
  );
  const rows: { version: number }[] = await given.context.store
    .fork()
    .execute('select version, is_newest from templates where id = ? order by version', [
      request.id,
    ]);
  expect(rows.map(({ version }) => version)).toEqual(rows.map((_, index) => index + 1));
});
