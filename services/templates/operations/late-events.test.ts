import { expect, test } from '@jest/globals';
import { erase } from '#lib/postgres/erase.ts';
import { query } from '#lib/postgres/query.ts';
import { changingCalls } from '../../../test/setup/changing-calls.ts';
import { erasedTables } from '../kept-data.ts';
import { services } from '../service.ts';
import { createRequest, useService } from '../test/given.ts';

// This service consumes no events. Other services change it by calls, which may arrive late and out
// of order.

const given = useService();
const workspaceId = 'acme';
const hourUs = 3_600_000_000n;
const nowUs = () => BigInt(Date.now()) * 1_000n;

async function givenTemplate(): Promise<string> {
  const request = createRequest();
  await given.client.createTemplate(request);
  return request.id;
}

const isDeletable = (id: string) =>
  given.client.deleteTemplate({ workspaceId, id }).then(
    () => true,
    () => false,
  );

const givenUser = () => ({ workspaceId, kind: 'list', id: crypto.randomUUID(), name: 'News' });

/** For each call what comes late, and what must be so afterwards. */
const cases: Record<string, () => Promise<void>> = {
  async setTemplateUses() {
    const [newer, older] = [await givenTemplate(), await givenTemplate()];
    const user = givenUser();
    const version = nowUs();
    await given.uses.setTemplateUses({ ...user, templateIds: [newer], version });
    for (const templateIds of [[older], []]) {
      const late = { ...user, templateIds, version: version - hourUs };
      await expect(given.uses.setTemplateUses(late)).resolves.toMatchObject({ version });
    }
    expect([await isDeletable(newer), await isDeletable(older)]).toEqual([false, true]);
  },
  async eraseWorkspace() {
    const kept = await givenTemplate();
    const late = { ...createRequest(), workspaceId: 'doomed' };
    await erase(given.context.store, 'doomed', erasedTables);
    // A call that began before the deletion.
    await given.client.createTemplate(late);
    const erased = await erase(given.context.store, 'doomed', erasedTables);
    expect(erased).toMatchObject({ left: [] });
    const { templates } = await given.client.listTemplates({ workspaceId: 'doomed' });
    expect(templates).toEqual([]);
    expect(await isDeletable(kept)).toBe(true);
  },
};

test('every call by which other services change something has a case', () => {
  expect(Object.keys(cases).toSorted()).toEqual(changingCalls(services));
});

test.each(Object.keys(cases))('newer state stands when %s comes an hour late', (call) =>
  cases[call]?.(),
);

test('uses that are set after they were ended stand when the end comes late', async () => {
  const id = await givenTemplate();
  const user = givenUser();
  const version = nowUs();
  await given.uses.setTemplateUses({ ...user, templateIds: [id], version: version - 2n });
  await given.uses.setTemplateUses({ ...user, templateIds: [id], version });
  await given.uses.setTemplateUses({ ...user, templateIds: [], version: version - 1n });
  expect(await isDeletable(id)).toBe(false);
});

test('an end stands when the beginning before it comes late, and nothing keeps the template', async () => {
  const id = await givenTemplate();
  const user = givenUser();
  const version = nowUs();
  await given.uses.setTemplateUses({ ...user, templateIds: [], version });
  await given.uses.setTemplateUses({ ...user, templateIds: [id], version: version - 1n });
  expect(await isDeletable(id)).toBe(true);
});

test('a push of an older process, which has no version, is taken', async () => {
  const id = await givenTemplate();
  const user = givenUser();
  await given.uses.setTemplateUses({ ...user, templateIds: [], version: nowUs() });
  await given.uses.setTemplateUses({ ...user, templateIds: [id] });
  expect(await isDeletable(id)).toBe(false);
});

test('a push that is refused leaves the version of the one before', async () => {
  const id = await givenTemplate();
  const user = givenUser();
  const version = nowUs();
  await given.uses.setTemplateUses({ ...user, templateIds: [id], version });
  const refused = { ...user, templateIds: ['never'], version: version + 1n };
  await expect(given.uses.setTemplateUses(refused)).rejects.toThrow('template never not found');
  const rows = await query<{ version: string }>(
    given.context.store.fork(),
    'select version from template_users where user_id = $1',
    [user.id],
  );
  expect(rows).toEqual([{ version: String(version) }]);
});
