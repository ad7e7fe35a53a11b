import { type BounceClass, classOfBounce, saysNoMailbox } from '../classes.ts';

const codes = /(?<![\d.])#?[245]\.\d{1,3}\.\d{1,3}(?!\.?\d)|(?<![\d.])[45]\d\d(?=[ -])/g;

/** Servers that say it in words of their own, whatever their code. */
const ownWords: readonly RegExp[] = [
  /\bdoesn't have a \S{1,80} account\b/i,
  /\buser\b.{0,80}\bnot listed in\b/i,
  /\binvalid (?:final delivery )?(?:recipient|user(?:id)?|mailbox)\b/i,
  /\bno valid recipients for this MM\b/i,
  // Cisco.
  /#5\.1\.0 Address rejected\b/,
  // Exchange Online, for addresses that its directory has not.
  /\b5\.4\.1\b.{0,300}\bRecipient address rejected: Access denied\b/,
  // Outlook.com.
  /\bRequested action not taken: mailbox unavailable \(-?\d/,
];
/** Servers say it with 5.2.1, too, which else is a mailbox that is switched off. */
const disabled = /(?<![\d.])5\.2\.1(?!\.?\d)/;
const blocked = /\bspamhaus\b|\btoo many recipients\b/i;

/**
 * Why a mail was returned, from words alone. Where a code says that there is no such mailbox, and
 * the words that the mailbox is full or the sender blocked, the words decide: many servers give
 * that code for any recipient that they refuse.
 */
export function classOfWords(words: string): BounceClass {
  const found = classOfBounce({ words, category: '' });
  if (saysNoMailbox(words)) return disabled.test(words) ? 'hard' : found;
  if (found === 'unknown' || found === 'soft') {
    return ownWords.some((each) => each.test(words)) ? 'hard' : found;
  }
  if (found !== 'hard') return found;
  if (blocked.test(words)) return 'sender';
  const uncoded = classOfBounce({ words: words.replace(codes, ' '), category: '' });
  return uncoded === 'unknown' ? found : uncoded;
}
