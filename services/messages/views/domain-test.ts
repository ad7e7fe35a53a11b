import { fromJson, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  DomainTestResultSchema,
  type DomainTestSchema,
  DomainTestState,
} from '#gen/postrider/messages/v1/domain_tests_pb.ts';
import type { DomainTestRow } from '../domain-tests/store.ts';

export function toDomainTest(row: DomainTestRow): MessageInitShape<typeof DomainTestSchema> {
  const state = stateOf(row);
  const error = row.error ?? row.message_info ?? 'the mail came back';
  return {
    id: row.id,
    name: row.domain,
    integrationId: row.integration_id,
    sender: row.sender,
    messageId: row.message_id,
    state,
    error: state === DomainTestState.FAILED ? error.slice(0, errorLengthMax) : undefined,
    createdAt: timestampFromDate(new Date(row.created_at)),
    arrivedAt: row.arrived_at ? timestampFromDate(new Date(row.arrived_at)) : undefined,
    result: row.result
      ? fromJson(DomainTestResultSchema, row.result, { ignoreUnknownFields: true })
      : undefined,
  };
}

const errorLengthMax = 500;
/** States of a message after which its mail does not arrive. */
const ended = new Set(['failed', 'bounced', 'skipped']);

/** A mail that was taken for lost may arrive after all. */
function stateOf(row: DomainTestRow): DomainTestState {
  if (row.arrived_at) return DomainTestState.ARRIVED;
  if (row.error !== null || ended.has(row.message_state ?? '')) return DomainTestState.FAILED;
  return row.is_over ? DomainTestState.EXPIRED : DomainTestState.PENDING;
}
