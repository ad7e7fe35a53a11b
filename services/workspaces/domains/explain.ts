import type { Domain, RecordState, StoredFinding } from './domain.ts';
import type { WantedRecord } from './records.ts';

/** The next step with a record, in a sentence. */
export function explanationOf(
  domain: Domain,
  record: WantedRecord,
  finding: StoredFinding | undefined,
): string {
  const state = finding?.state ?? 'unchecked';
  return finding?.note ?? texts[state](record, domain);
}

type Text = (record: WantedRecord, domain: Domain) => string;

const texts: Record<RecordState, Text> = {
  unchecked: (record) => wish(record) ?? `Add this ${record.type} record.`,
  ok: (record, domain) => advice(record, domain) ?? 'Nothing is to be done.',
  missing: (record) =>
    wish(record) ??
    `Add this ${record.type} record; until it is seen everywhere it may take hours.`,
  wrong: (record) =>
    wish(record) ?? `Another value stands at this host: replace it by the wanted one.`,
  conflict: () => 'Several values stand at this host: keep the wanted one alone.',
  unreachable: ({ purpose }) =>
    purpose === 'tracking'
      ? 'Neither DNS nor the host itself answers now: nothing is to be done if it answers again soon.'
      : 'No DNS server answers for this host now: nothing is to be done if one does so again soon.',
};

/** Of records that nobody has to add as they are shown; undefined for all others. */
function wish({ purpose, signing }: WantedRecord): string | undefined {
  if (purpose === 'spf') {
    return 'This stands where the return path leads: ask the operator of the installation to publish one SPF record there.';
  }
  if (purpose === 'dmarc') {
    return 'Add a policy: large mailbox providers refuse bulk mail without one. p=none only reports.';
  }
  if (signing?.state === 'revoked')
    return 'This key signs no more: empty its p=, or delete the record.';
  return undefined;
}

function advice({ signing, purpose }: WantedRecord, { name }: Domain): string | undefined {
  if (signing?.state === 'retired') {
    return 'This key signs no more: keep the record for 7 days, for mails on their way.';
  }
  if (signing?.state === 'published') {
    return 'The record is found; its key signs once it is seen for long enough.';
  }
  if (signing?.state === 'revoked') return 'This key signs no more: its record may be deleted.';
  if (purpose === 'dmarc') return `Mails of ${name} align with it.`;
  return undefined;
}
