/*
 * Why a mail was returned, as one table for all providers. An enhanced status code (RFC 3463) in
 * the server's words decides, then the provider's own word, then the words. Only `hard` says that
 * the address is dead.
 */

/** Of a mail that was returned. */
export const bounceClasses = ['hard', 'soft', 'expired', 'message', 'sender', 'unknown'] as const;
export type BounceClass = (typeof bounceClasses)[number];

/**
 * Of any report but a delivery. `left`: the recipient unsubscribed. `auto`: a program answered,
 * such as that of a vacation.
 */
export type ReportClass = BounceClass | 'complaint' | 'left' | 'auto';

/**
 * RFC 3463 codes that say that there is no such mailbox. 5.1.0 is left out: servers give it for a
 * refused sender as well.
 */
const noMailbox = /^5\.1\.(?:1|3|6|10)$/;

/** Whether an enhanced status code says that there is no such mailbox. */
export const isDeadMailbox = (enhanced: string): boolean => noMailbox.test(enhanced);

/** The first that matches decides; a code that matches none says nothing. */
const byCode: readonly (readonly [code: RegExp, of: BounceClass])[] = [
  [noMailbox, 'hard'],
  // RFC 7293: mailbox or domain belong to somebody else by now.
  [/^5\.7\.1[78]$/, 'hard'],
  [/^[45]\.4\.7$/, 'expired'],
  [/^4\./, 'soft'],
  [/^5\.1\.[789]$/, 'sender'],
  [/^5\.1\.[24]$/, 'soft'],
  [/^5\.2\.3$/, 'message'],
  [/^5\.2\./, 'soft'],
  [/^5\.3\.4$/, 'message'],
  // The server's own state, which passes.
  [/^5\.3\.[12]$/, 'soft'],
  [/^5\.4\./, 'soft'],
  [/^5\.5\.[1-9]/, 'sender'],
  [/^5\.6\./, 'message'],
  // A disabled account may be enabled again.
  [/^5\.7\.13$/, 'soft'],
  [/^5\.7\.[1-9]/, 'sender'],
];

/** Words of providers and of mail servers' accounting for why a mail was returned. */
const byWord: Readonly<Record<string, BounceClass>> = {
  ...Object.fromEntries(bounceClasses.map((each) => [each, each])),
  hardbounce: 'hard',
  permanent: 'hard',
  'bad-mailbox': 'hard',
  softbounce: 'soft',
  temporary: 'soft',
  transient: 'soft',
  'quota-issues': 'soft',
  'inactive-mailbox': 'soft',
  'bad-domain': 'soft',
  'routing-errors': 'soft',
  'bad-connection': 'soft',
  'no-answer-from-host': 'soft',
  'message-expired': 'expired',
  'content-related': 'message',
  'virus-related': 'message',
  'spam-related': 'sender',
  'policy-related': 'sender',
  'relaying-issues': 'sender',
  'protocol-errors': 'sender',
};

const noMailboxWords =
  /\b(?:user|mailbox|recipient|address)\b.{0,40}\b(?:unknown|not found|does not exist|doesn't exist)\b|\bno such (?:user|mailbox|recipient)\b|\bunknown (?:user|mailbox|recipient)\b/i;
/** Servers that check the sender late refuse it in answer to RCPT. */
const senderWord = /\bsender\b/i;

/** Whether words say that there is no such mailbox. */
export const saysNoMailbox = (words: string): boolean =>
  noMailboxWords.test(words) && !senderWord.test(words);

/** The first that matches decides. */
const byText: readonly (readonly [words: RegExp, of: BounceClass])[] = [
  [
    /\b(?:spam|spf|dkim|dmarc|reputation|black ?list|block ?list|blacklisted|blocklisted|blocked|policy)\b/i,
    'sender',
  ],
  [/\b(?:mailbox|inbox|quota)\b.{0,30}\b(?:full|exceeded|over)\b|\bover ?quota\b/i, 'soft'],
  [/\b(?:message|size)\b.{0,30}\b(?:too (?:large|big|long)|limit)\b|\bvirus\b/i, 'message'],
  [/\b(?:expired|too long in (?:the )?queue|retry time-?out exceeded)\b/i, 'expired'],
];

/** At the beginning of words, or behind a reply's code. An IP address has none. */
const enhancedCode = /(?<![\d.])([245]\.\d{1,3}\.\d{1,3})(?!\.?\d)/;

/** Why a mail was returned, from the server's words and the provider's own word for it. */
export function classOfBounce({
  words,
  category,
}: {
  words: string;
  category: string;
}): BounceClass {
  const code = enhancedCode.exec(words)?.[1] ?? '';
  return (
    byCode.find(([pattern]) => pattern.test(code))?.[1] ?? wordClass(category) ?? classOfText(words)
  );
}

function wordClass(category: string): BounceClass | undefined {
  const word = category.trim().toLowerCase().replaceAll('_', '-');
  return Object.hasOwn(byWord, word) ? byWord[word] : undefined;
}

function classOfText(words: string): BounceClass {
  if (saysNoMailbox(words)) return 'hard';
  const found = byText.find(([pattern]) => pattern.test(words))?.[1];
  return found ?? (/^\s*4\d\d\b/.test(words) ? 'soft' : 'unknown');
}

/** The class of a feedback report by its type (RFC 5965); undefined for one that says nothing. */
export function classOfComplaint(type: string): 'complaint' | 'left' | undefined {
  const word = type.trim().toLowerCase().replaceAll('_', '-');
  if (word === 'not-spam') return undefined;
  return word === 'opt-out' || word === 'opt-out-list' || word === 'unsubscribe'
    ? 'left'
    : 'complaint';
}
