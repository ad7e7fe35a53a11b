import { isDeadMailbox, saysNoMailbox } from '../../reports/classes.ts';

/** The part of a message's transaction that a server refuses. */
export type Command = 'MAIL' | 'RCPT' | 'DATA' | 'the message';

/** A permanent refusal: of what, and with which words. */
export type PermanentRefusal = { command: Command; code: number; enhanced: string; info: string };

/**
 * Codes about the recipient that don't say the mailbox is dead: its host, or the mailbox's present
 * state.
 */
const recipientOnly = /^5\.(?:1\.[24]|2\.\d+)$/;

/**
 * Whether a refusal says that the address is dead, so that it is suppressed. Only RCPT is about an
 * address, and the end of the message where a server looks the mailbox up that late.
 */
export function isHardBounce(refusal: PermanentRefusal): boolean {
  const { command, code, enhanced, info } = refusal;
  if (command === 'the message') return enhanced === '5.1.1';
  if (command !== 'RCPT') return false;
  if (enhanced !== '') return isDeadMailbox(enhanced);
  return (code === 550 || code === 553) && saysNoMailbox(info);
}

/** Whether a refusal is about its recipient only, and says nothing about other messages. */
export function isAboutRecipient(refusal: PermanentRefusal): boolean {
  const { enhanced } = refusal;
  return isHardBounce(refusal) || isDeadMailbox(enhanced) || recipientOnly.test(enhanced);
}
