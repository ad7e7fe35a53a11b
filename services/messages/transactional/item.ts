import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import type {
  SendTransactionalResponse,
  SuppressedRecipient,
} from '#gen/postrider/messages/v1/transactional_pb.ts';
import type { KeyedCall } from '#lib/rpc/server/idempotency.ts';
import type { Checked } from './input.ts';

/** A message to accept. */
export type TransactionalItem = {
  checked: Checked;
  /** Whether the caller may change contacts. */
  mayChange: boolean;
  /** Absent without an `Idempotency-Key`. */
  keyed?: KeyedCall | undefined;
};

/** The answer for one message. */
export type TransactionalAnswer = {
  messageId: string;
  /** Whether it was accepted, now or before. */
  success: boolean;
  suppressed: Omit<SuppressedRecipient, '$typeName' | '$unknown'>[];
  /** It is the answer to an earlier call with the same `Idempotency-Key`. */
  isReplayed?: boolean;
};

/** The answer of an earlier call to `SendTransactional`, as it was kept. */
export function replayOf(kept: MessageShape<DescMessage>): TransactionalAnswer {
  const { messageId, success, suppressed } = kept as SendTransactionalResponse;
  return { messageId, success, suppressed, isReplayed: true };
}
