/** The part of a message's transaction that a server refuses. */
export type Command = 'MAIL' | 'RCPT' | 'DATA' | 'the message';

/** A permanent refusal: of what, and with which words. */
export type PermanentRefusal = { command: Command; code: number; enhanced: string; info: string };

/**
 * RFC 3463 codes that say that there is no such mailbox. 5.1.0 is left out: servers give it for a
 * refused sender as well.
 */
const noMailbox = new Set(['5.1.1', '5.1.3', '5.1.6', '5.1.10']);
/**
 * Codes about the recipient that don't say the mailbox is dead: its host, or the mailbox's present
 * state.
 */
const recipientOnly = /^5\.(?:1\.[24]|2\.\d+)$/;
const saysUnknown =
  /\b(?:user|mailbox|recipient|address)\b.{0,40}\b(?:unknown|not found|does not exist|doesn't exist)\b|\bno such (?:user|mailbox|recipient)\b|\bunknown (?:user|mailbox|recipient)\b/i;
/** Servers that check the sender late refuse it in answer to RCPT. */
const speaksOfSender = /\bsender\b/i;

/**
 * Whether a refusal says that the address is dead, so that it is suppressed. Only RCPT is about an
 * address, and the end of the message where a server looks the mailbox up that late.
 */
export function isHardBounce(refusal: PermanentRefusal): boolean {
  const { command, code, enhanced, info } = refusal;
  if (command === 'the message') return enhanced === '5.1.1';
  if (command !== 'RCPT') return false;
  if (enhanced !== '') return noMailbox.has(enhanced);
  return (code === 550 || code === 553) && saysUnknown.test(info) && !speaksOfSender.test(info);
}

/** Whether a refusal is about its recipient only, and says nothing about other messages. */
export function isAboutRecipient(refusal: PermanentRefusal): boolean {
  const { enhanced } = refusal;
  return isHardBounce(refusal) || noMailbox.has(enhanced) || recipientOnly.test(enhanced);
}
