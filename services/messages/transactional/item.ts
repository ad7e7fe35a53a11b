import type { SuppressedRecipient } from '#gen/postrider/messages/v1/transactional_pb.ts';
import type { Checked } from './input.ts';

/** A message to accept. */
export type Item = {
  checked: Checked;
  /** Whether the caller may change contacts. */
  mayChange: boolean;
};

/** What became of it. */
export type Answer = {
  messageId: string;
  /** Whether it was accepted, now or before. */
  success: boolean;
  suppressed: Omit<SuppressedRecipient, '$typeName' | '$unknown'>[];
};
