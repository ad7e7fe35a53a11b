import { type EntityManager, query } from '#lib/store.ts';
import type { Outcome } from './smtp/outcome.ts';

/** RFC 3463 codes that say that there is no such mailbox; others are about content, policy or the moment. */
const noMailbox = new Set(['5.1.0', '5.1.1', '5.1.2', '5.1.6', '5.1.10']);
const saysUnknown =
  /\b(?:user|mailbox|recipient|address)\b.{0,40}\b(?:unknown|not found|does not exist|doesn't exist)\b|\bno such (?:user|mailbox|recipient)\b|\bunknown (?:user|mailbox|recipient)\b/i;

/** Whether a refusal says that the address is dead, so that nobody writes to it again. */
export function isHardBounce(outcome: Outcome & { kind: 'failed' }): boolean {
  if (outcome.enhanced !== '') return noMailbox.has(outcome.enhanced);
  return (outcome.code === 550 || outcome.code === 553) && saysUnknown.test(outcome.info);
}

/** Why addresses may not be written to by anybody in the workspace. */
export async function readSuppressions(
  em: EntityManager,
  workspaceId: string,
  emails: readonly string[],
): Promise<Map<string, string>> {
  const rows = await query<{ email: string; reason: string }>(
    em,
    'select email, reason from suppressions where workspace_id = $1 and email = any($2::text[])',
    [workspaceId, emails],
  );
  return new Map(rows.map(({ email, reason }) => [email, reason]));
}
