import type { BounceClass } from '../classes.ts';
import { type FieldGroup, fieldGroups, fieldOf } from './fields.ts';
import { addressesIn, type MailStatement, saysNothing } from './statement.ts';
import { classOfWords } from './words.ts';

/** Reads a delivery status notification (RFC 3464): a statement for each recipient. */
export function statementsOfStatus(part: string): MailStatement[] {
  return fieldGroups(part).filter(isOfRecipient).map(statementOf);
}

const isOfRecipient = (group: FieldGroup) =>
  ['action', 'final-recipient', 'original-recipient'].some((name) => group.has(name));

function statementOf(group: FieldGroup): MailStatement {
  const names = ['original-recipient', 'final-recipient', 'x-actual-recipient'];
  const recipients = [...new Set(names.flatMap((name) => addressesIn(fieldOf(group, name))))];
  const action = /^[a-z]+/.exec(fieldOf(group, 'action').toLowerCase())?.[0] ?? '';
  const status = /[245]\.\d{1,3}\.\d{1,3}/.exec(fieldOf(group, 'status'))?.[0] ?? '';
  const diagnostic = fieldOf(group, 'diagnostic-code').replace(/^[\w-]+\s*;\s*/, '');
  const about = { ...saysNothing, recipients, category: action, words: diagnostic || status };
  if (action === 'delivered' || action === 'relayed') return { ...about, type: 'delivered' };
  // A delay, or a list that took the mail.
  if (action === 'delayed' || action === 'expanded' || status.startsWith('2.')) return about;
  if (action === '' && status === '' && diagnostic === '') return about;
  return { ...about, type: 'bounce', class: classOf(status, diagnostic) };
}

/**
 * The code of the server that refused the mail counts before that of the one that reports it, which
 * may have made its own of a reply without one. A mail that was given up is expired, whatever the
 * last reply was.
 */
function classOf(status: string, diagnostic: string): BounceClass {
  if (/^[45]\.4\.7$/.test(status)) return 'expired';
  const isCoded = /(?<![\d.])[45]\.\d{1,3}\.\d{1,3}(?!\.?\d)/.test(diagnostic);
  const alone = classOfWords(diagnostic);
  if (isCoded || (alone === 'hard' && status.startsWith('5'))) {
    return alone === 'unknown' ? classOfWords(status) : alone;
  }
  return classOfWords(`${status} ${diagnostic}`);
}
