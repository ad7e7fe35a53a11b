import type { JsonObject } from '@bufbuild/protobuf';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { addressFault, canonicalAddress } from '#lib/address.ts';
import { type FieldFault, invalidFields } from '#lib/errors/errors.ts';
import { goalTypes } from '#lib/goal-types.ts';
import { jsonText, microsOf } from '../contact/values.ts';

/** An event as a caller gives it; `UpsertCustomEventRequest` has no source of its own. */
export type GivenEvent = {
  email: string;
  eventName: string;
  externalId: string;
  properties?: JsonObject;
  occurredAt?: Timestamp;
  source: string;
  integrationId: string;
  goalName?: string;
  goalType?: string;
  goalValue?: number;
  deletedAt?: Timestamp;
};

/** An event as PostgreSQL takes it. Times are microseconds since 1970. */
export type EventRow = {
  email: string;
  eventName: string;
  externalId: string;
  /** JSON. */
  properties: string;
  occurredAt: bigint;
  source: string;
  integrationId: string | undefined;
  goalName: string | undefined;
  goalType: string | undefined;
  /** A decimal number. */
  goalValue: string | undefined;
  deletedAt: bigint | undefined;
};

const goalsWithValue = ['purchase', 'subscription'];
/** The largest value of numeric(15, 2), after rounding. */
const goalValueMax = 9_999_999_999_999.99;
const nameMax = 100;
const aheadMaxMicros = 24n * 60n * 60n * 1_000_000n;

/** Checks an event field by field, in field order. Its row is valid only without faults. */
export function readEvent(given: GivenEvent, now: Date): { row: EventRow; faults: FieldFault[] } {
  const faults: FieldFault[] = [];
  const fault = (field: string, description: string | undefined) => {
    if (description !== undefined) faults.push({ field, description });
  };
  const nowMicros = BigInt(now.getTime()) * 1_000n;
  const email = canonicalAddress(given.email);
  const properties = jsonText(given.properties ?? {});
  const occurredAt = given.occurredAt ? microsOf(given.occurredAt) : nowMicros;
  const deletedAt = given.deletedAt && microsOf(given.deletedAt);
  if (!email) {
    fault('email', given.email.trim() === '' ? 'email is required' : addressFault(given.email));
  }
  fault('event_name', nameFault(given.eventName));
  fault(
    'external_id',
    given.externalId === ''
      ? 'external_id is required'
      : textFault('external_id', given.externalId, 255),
  );
  if ('fault' in properties) fault('properties', `properties ${properties.fault}`);
  fault('occurred_at', timeFault('occurred_at', occurredAt, nowMicros));
  fault('source', textFault('source', given.source, 50));
  fault('integration_id', textFault('integration_id', given.integrationId, 64));
  fault('goal_name', textFault('goal_name', given.goalName ?? '', nameMax));
  fault('goal_type', goalTypeFault(given.goalType));
  fault('goal_value', goalValueFault(given));
  if (given.deletedAt) fault('deleted_at', timeFault('deleted_at', deletedAt, nowMicros));
  return {
    row: {
      email: email ?? given.email,
      eventName: given.eventName,
      externalId: given.externalId,
      properties: 'text' in properties ? properties.text : '{}',
      occurredAt: occurredAt ?? nowMicros,
      source: given.source,
      integrationId: given.integrationId || undefined,
      goalName: given.goalName,
      goalType: given.goalType,
      goalValue: given.goalValue === undefined ? undefined : String(given.goalValue),
      deletedAt,
    },
    faults,
  };
}

/** The row of an event without faults; otherwise throws all of them. */
export function requireEvent(given: GivenEvent, now: Date): EventRow {
  const { row, faults } = readEvent(given, now);
  const [first, ...rest] = faults;
  if (first) throw invalidFields([first, ...rest]);
  return row;
}

function nameFault(name: string): string | undefined {
  if (name === '') return 'event_name is required';
  if (/^[a-z0-9_./-]+$/.test(name)) return textFault('event_name', name, nameMax);
  return 'event_name must contain only lowercase letters, numbers, underscores, dots, and slashes';
}

function textFault(field: string, text: string, lengthMax: number): string | undefined {
  if (text.length > lengthMax && [...text].length > lengthMax) {
    return `${field} must be ${lengthMax} characters or less`;
  }
  return text.includes('\0') ? `${field} holds text that can not be stored` : undefined;
}

function timeFault(field: string, micros: bigint | undefined, now: bigint): string | undefined {
  if (micros === undefined) return `${field} must lie in the years 1 to 9999`;
  return micros > now + aheadMaxMicros ? `${field} must be at most a day ahead` : undefined;
}

function goalTypeFault(type: string | undefined): string | undefined {
  if (type === undefined || goalTypes.includes(type)) return undefined;
  return `goal_type must be one of: [${goalTypes.join(' ')}]`;
}

function goalValueFault({ goalType = '', goalValue }: GivenEvent): string | undefined {
  if (goalValue === undefined) {
    return goalsWithValue.includes(goalType)
      ? `goal_value is required for goal_type '${goalType}'`
      : undefined;
  }
  if (!Number.isFinite(goalValue)) return 'goal_value must be a finite number';
  return Math.abs(goalValue) < goalValueMax + 0.005
    ? undefined
    : 'goal_value must be below 10000000000000';
}
