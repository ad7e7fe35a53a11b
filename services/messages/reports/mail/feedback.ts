import { classOfComplaint } from '../classes.ts';
import { fieldGroups, fieldOf } from './fields.ts';
import { addressesIn, type MailStatement, saysNothing } from './statement.ts';

/** Others, such as `auth-failure`, are about the mail and not from its reader. */
const knownTypes = /^(?:abuse|fraud|virus|opt-out|opt-out-list|not-spam)$/;

/** Reads a feedback report (RFC 5965): a statement for each recipient that it names, or one. */
export function statementsOfFeedback(part: string): MailStatement[] {
  const [group] = fieldGroups(part);
  if (!group) return [];
  const complaintType = fieldOf(group, 'feedback-type').toLowerCase();
  const known = knownTypes.test(complaintType) ? classOfComplaint(complaintType) : undefined;
  const said = { ...saysNothing, category: complaintType, complaintType, class: known };
  const statement: MailStatement = known ? { ...said, type: 'complaint' } : said;
  const named = (group.get('original-rcpt-to') ?? []).flatMap(addressesIn).slice(0, 10);
  return named.length === 0
    ? [statement]
    : named.map((recipient) => ({ ...statement, recipients: [recipient] }));
}
