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
