import type { RecordFinding } from '../domains/domain.ts';
import { isOwnership, type WantedRecord } from '../domains/records.ts';
import { type Asked, missing, shown, textsAt } from './texts.ts';

/** Other texts at the host do not matter. */
export async function lookAtOwnership(asked: Asked, record: WantedRecord): Promise<RecordFinding> {
  const read = await textsAt(asked, record.host);
  if ('state' in read) return read;
  const claims = [...new Set(read.texts.map((text) => text.trim()).filter(isOwnership))];
  if (claims.length === 0) return missing(read.target, read.texts);
  if (!claims.includes(record.value)) return { state: 'wrong', found: shown(claims) };
  if (claims.length === 1) return { state: 'ok', found: shown(claims) };
  return {
    ...{ state: 'conflict', found: shown(claims) },
    note: 'The records of several workspaces stand here: delete those that are not of this one.',
  };
}
