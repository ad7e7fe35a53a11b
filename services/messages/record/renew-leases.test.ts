import { expect, test } from '@jest/globals';
import { query } from '#lib/postgres/query.ts';
import { useService } from '../test/given.ts';
import { type ClaimGroup, claim, renewLeases } from './claims.ts';

const given = useService();

const workspaceId = 'w1';
const group: ClaimGroup = {
  ...{ workspaceId, broadcastId: crypto.randomUUID(), listId: 'l1', integrationId: 'i1' },
  ...{ templateId: 't1', templateVersion: 1, isByHand: false },
};

async function claimedIds(owner: string, count: number): Promise<string[]> {
  const claimants = Array.from({ length: count }, (_, index) => ({
    ...{ id: crypto.randomUUID(), email: `p${index}@renewed.example`, skipReason: '' },
  }));
  const rows = await claim(given.store, owner, group, { claimants, areNew: true });
  return rows.map(({ id }) => id);
}

test('a renewal waits for no row that is being recorded or given back, and renews the others', async () => {
  const owner = crypto.randomUUID();
  const ids = await claimedIds(owner, 3);
  const [first, locked, last] = ids;
  await given.store.fork().transactional(async (em) => {
    await query(em, 'select from messages where workspace_id = $1 and id = $2 for update', [
      workspaceId,
      locked,
    ]);
    const renewed = await renewLeases(given.context.outcomes, owner, workspaceId, ids);
    expect(renewed).toEqual(new Set([first, last]));
  });
  const renewed = await renewLeases(given.context.outcomes, owner, workspaceId, ids);
  expect(renewed).toEqual(new Set(ids));
});

test('a renewal leaves alone what another process holds', async () => {
  const ids = await claimedIds(crypto.randomUUID(), 2);
  const renewed = await renewLeases(given.context.outcomes, crypto.randomUUID(), workspaceId, ids);
  expect(renewed.size).toBe(0);
});
