import { addressFault, canonicalAddress } from '#lib/address.ts';
import { type FieldFault, invalidField } from '#lib/errors/errors.ts';

/** The weakest first. `bounced` keeps transactional mail away, too. */
const reasons = ['opted_out', 'complained', 'bounced'];

export type SuppressionRow = { email: string; reason: string; note: string | null };

type SuppressionFields = { email: string; reason: string; note?: string | undefined };

const noteMaxLength = 255;

/** The row of an input, and its fault if it has one. */
export function readSuppression({ email: given, reason: named, note = '' }: SuppressionFields): {
  row: SuppressionRow;
  fault: FieldFault | undefined;
} {
  const email = canonicalAddress(given);
  const reason = named || 'opted_out';
  const row = { email: email ?? given, reason, note: note.trim() || null };
  return { row, fault: faultOf(given, { ...row, email }) };
}

function faultOf(
  given: string,
  { email, reason, note }: { email: string | undefined; reason: string; note: string | null },
): FieldFault | undefined {
  if (!email) return { field: 'email', description: addressFault(given) };
  if (!reasons.includes(reason)) return { field: 'reason', description: invalidReason };
  if (note && note.length > noteMaxLength) {
    return { field: 'note', description: `note must have at most ${noteMaxLength} characters` };
  }
  return undefined;
}

const invalidReason = 'reason must be bounced, complained or opted_out';

export function requireReason(reason: string): void {
  if (!reasons.includes(reason)) throw invalidField('reason', invalidReason);
}

/** SQL of how strong a reason is. */
export const strengthSql = (reason: string) =>
  `array_position('{${reasons.join(',')}}'::text[], ${reason})`;

/** Of rows with the same address the first with the strongest reason. */
export function strongest(rows: readonly SuppressionRow[]): SuppressionRow[] {
  const byEmail = new Map<string, SuppressionRow>();
  for (const row of rows) {
    const known = byEmail.get(row.email);
    if (!known || reasons.indexOf(row.reason) > reasons.indexOf(known.reason)) {
      byEmail.set(row.email, row);
    }
  }
  return [...byEmail.values()];
}
