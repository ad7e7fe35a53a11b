import { randomBytes } from 'node:crypto';
import { Code } from '@connectrpc/connect';
import { afterEach, expect, test } from '@jest/globals';
import { until } from '../../../test/stack/until.ts';
import { createRequest, useService } from '../test/given.ts';
import { frame, section } from '../test/layouts.ts';

const given = useService();
afterEach(() => {
  delete given.quotas.template_bytes;
});

async function usedBy(workspaceId: string): Promise<number> {
  // Fails while another count of the workspace goes on.
  const count = await given.context.quotas
    .countNow(workspaceId, 'template_bytes')
    .catch(() => undefined);
  return count?.used ?? 0;
}

const untilUsed = (workspaceId: string, least: number) =>
  until(`more than ${least} bytes are counted`, async () => (await usedBy(workspaceId)) > least);

async function untilRoom(workspaceId: string, room: number): Promise<void> {
  given.quotas.template_bytes = BigInt(Math.max(1, room));
  await until('the quota is known', async () => {
    await usedBy(workspaceId);
    return given.context.quotas.room(workspaceId, 'template_bytes') === room;
  });
}

const full = { code: Code.ResourceExhausted, rawMessage: expect.stringMatching(/for templates: /) };

test('versions count by their bytes, also of deleted templates, and beyond the quota none is added', async () => {
  const workspaceId = 'versions';
  const request = { ...createRequest(), workspaceId };
  await given.client.createTemplate(request);
  await untilUsed(workspaceId, 0);
  const first = await usedBy(workspaceId);
  await given.client.updateTemplate({ ...request, name: 'Again' });
  await untilUsed(workspaceId, first * 1.5);
  await given.client.deleteTemplate({ workspaceId, id: request.id });
  expect(await usedBy(workspaceId)).toBeGreaterThan(first * 1.5);
  await given.client.createTemplate(request);
  await untilRoom(workspaceId, 0);
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
  await untilRoom(workspaceId, 500);
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

test('a small template in a large layout counts with all that is compiled of it', async () => {
  const workspaceId = 'layouts';
  const words = randomBytes(30_000).toString('hex');
  const layout = { ...createRequest(frame.replace('Above', words)), workspaceId };
  await given.client.createTemplate(layout);
  await untilUsed(workspaceId, 30_000);
  const before = await usedBy(workspaceId);
  const request = { ...createRequest(section('Hi')), workspaceId, templateMacroId: layout.id };
  const translations = { fr: { email: request.email } };
  await given.client.createTemplate({ ...request, translations });
  await untilUsed(workspaceId, before);
  expect(await usedBy(workspaceId)).toBeGreaterThan(before + 4 * words.length);
});

test('a call that is repeated with its Idempotency-Key has its answer at the quota as well', async () => {
  const workspaceId = 'repeats';
  const request = { ...createRequest(), workspaceId };
  await given.client.createTemplate(request);
  const headers = { headers: { 'idempotency-key': 'update-at-quota' } };
  const changed = { ...request, name: 'Changed' };
  const first = await given.client.updateTemplate(changed, headers);
  await untilRoom(workspaceId, 0);
  expect(await given.client.updateTemplate(changed, headers)).toEqual(first);
  await expect(given.client.updateTemplate(changed)).rejects.toMatchObject(full);
});
