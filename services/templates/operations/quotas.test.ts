import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { until } from '../../../test/stack/until.ts';
import { createRequest, useService } from '../test/given.ts';

const given = useService();

test('versions count by their bytes, also of deleted templates, and beyond the quota none is added', async () => {
  const workspaceId = 'versions';
  const request = { ...createRequest(), workspaceId };
  const { quotas } = given.context;
  const used = async () => {
    // Fails while another count of the workspace goes on.
    const count = await quotas.countNow(workspaceId, 'template_bytes').catch(() => {});
    return count?.used ?? 0;
  };
  const untilUsed = (least: number) =>
    until(`more than ${least} bytes are counted`, async () => (await used()) > least);
  await given.client.createTemplate(request);
  await untilUsed(0);
  const first = await used();
  await given.client.updateTemplate({ ...request, name: 'Again' });
  await untilUsed(first * 1.5);
  await given.client.deleteTemplate({ workspaceId, id: request.id });
  expect(await used()).toBeGreaterThan(first * 1.5);
  await given.client.createTemplate(request);
  given.quotas.template_bytes = 1n;
  const full = {
    code: Code.ResourceExhausted,
    rawMessage: expect.stringMatching(/for templates: /),
  };
  await until('the quota is known', async () => {
    await used();
    return quotas.room(workspaceId, 'template_bytes') === 0;
  });
  const { id } = request;
  const calls = [
    given.client.createTemplate({ ...createRequest(), workspaceId }),
    given.client.updateTemplate(request),
    given.client.restoreTemplateVersion({ workspaceId, id, version: 3 }),
  ];
  for (const call of calls) await expect(call).rejects.toMatchObject(full);
  const { template } = await given.client.getTemplate({ workspaceId, id, version: 0 });
  expect(template?.version).toBe(3);
});

test('a version counts from the moment in which it is written', async () => {
  const workspaceId = 'hasty';
  given.quotas.template_bytes = 500n;
  const { quotas } = given.context;
  await until('the quota is known', async () => {
    await quotas.countNow(workspaceId, 'template_bytes').catch(() => {});
    return quotas.room(workspaceId, 'template_bytes') === 500;
  });
  const request = { ...createRequest(), workspaceId };
  const outcomes: string[] = [];
  await given.client.createTemplate(request);
  for (let number = 0; number < 5; number += 1) {
    const update = given.client.updateTemplate({ ...request, name: `No. ${number}` });
    outcomes.push(
      await update.then(
        () => 'done',
        ({ code }) => Code[code] ?? '',
      ),
    );
  }
  expect(outcomes.at(-1)).toBe('ResourceExhausted');
});
