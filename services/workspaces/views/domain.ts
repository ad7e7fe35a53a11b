import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  DomainKeyState,
  DomainRecordPurpose,
  type DomainRecordSchema,
  DomainRecordState,
  type DomainSchema,
  DomainState,
} from '#gen/postrider/workspaces/v1/domains_pb.ts';
import type { Domain, DomainKey, RecordState } from '../domains/domain.ts';
import { explanationOf } from '../domains/explain.ts';
import {
  type RecordPurpose,
  type RecordTargets,
  type WantedRecord,
  wantedRecords,
} from '../domains/records.ts';
import { stateOf } from '../domains/state.ts';
import { zoneLine } from '../domains/zone.ts';

const keyOrder = ['signing', 'published', 'waiting', 'retired', 'revoked'] as const;

/** A domain with all that people have to know of it; without its private keys. */
export function domainMessage(
  domain: Domain,
  keys: readonly DomainKey[],
  installation: RecordTargets,
): MessageInitShape<typeof DomainSchema> {
  const own = keys.filter((key) => key.domain === domain.name);
  const records = wantedRecords(domain, own, installation);
  const ordered = own.toSorted((a, b) => keyOrder.indexOf(a.state) - keyOrder.indexOf(b.state));
  return {
    name: domain.name,
    state: DomainState[upper(stateOf(domain, records))],
    dkimAlgorithms: domain.dkim_algorithms,
    returnPathHost: domain.return_path_host,
    trackingHost: domain.tracking_host,
    records: records.map((record) => recordMessage(domain, record)),
    zone: zoneOf(records),
    keys: ordered.map((key) => ({
      selector: key.selector,
      algorithm: key.algorithm,
      state: DomainKeyState[upper(key.state)],
      since: timestampFromDate(key.since),
    })),
    checkedAt: domain.checked_at ? timestampFromDate(domain.checked_at) : undefined,
    nextCheckAt: timestampFromDate(domain.next_check_at),
    failingSince: domain.failing_since ? timestampFromDate(domain.failing_since) : undefined,
    createdAt: timestampFromDate(domain.created_at),
    updatedAt: timestampFromDate(domain.updated_at),
  };
}

function recordMessage(
  domain: Domain,
  record: WantedRecord,
): MessageInitShape<typeof DomainRecordSchema> {
  const finding = domain.findings[record.key];
  const { state = 'unchecked', known = 'unchecked', found = [] } = finding ?? {};
  return {
    purpose: DomainRecordPurpose[upper<RecordPurpose>(record.purpose)],
    type: record.type,
    host: record.host,
    value: record.value,
    state: DomainRecordState[upper<RecordState>(state)],
    knownState: DomainRecordState[upper<RecordState>(known)],
    found,
    explanation: explanationOf(domain, record, finding),
    required: record.isRequired,
  };
}

/** Records that have to stand in the zone; then those that are only advised, as comments. */
function zoneOf(records: readonly WantedRecord[]): string {
  const own = records.filter(({ purpose }) => purpose !== 'spf');
  const isAdvised = ({ purpose, signing }: WantedRecord) =>
    purpose === 'dmarc' || signing?.state === 'revoked';
  const lines = own.filter((record) => !isAdvised(record)).map(zoneLine);
  const advised = own.filter(isAdvised).map((record) => `; advised: ${zoneLine(record)}`);
  return [...lines, ...advised].map((line) => `${line}\n`).join('');
}

function upper<Word extends string>(word: Word): Uppercase<Word> {
  return word.toUpperCase() as Uppercase<Word>;
}
