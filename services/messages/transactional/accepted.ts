import type { EntityManager } from '#lib/postgres/store.ts';
import { findByExternalId, insertFile } from '../record/requests.ts';
import type { Ready } from './prepare.ts';

/** Stores the files of messages that were written. */
export async function insertFiles(
  em: EntityManager,
  workspaceId: string,
  ready: readonly Ready[],
  written: ReadonlyMap<string, Date>,
): Promise<void> {
  for (const { id, row, checked } of ready) {
    if (!written.has(id) || row.status === 'failed') continue;
    for (const [place, { content }] of checked.files.entries()) {
      await insertFile(em, { workspaceId, id }, { place, content });
    }
  }
}

/** The ids of the messages that hold the external ids of these, by the ids that these would have had. */
export async function findRepeats(
  em: EntityManager,
  workspaceId: string,
  left: readonly Ready[],
): Promise<Map<string, string>> {
  const keys = left.flatMap(({ row }) => row.externalId ?? []);
  const found = await findByExternalId(em, workspaceId, keys);
  return new Map(
    left.flatMap(({ id, row }): [string, string][] => {
      const first = found.get(row.externalId ?? '');
      return first === undefined ? [] : [[id, first]];
    }),
  );
}
