import { createHash } from 'node:crypto';
import { type DescMessage, type MessageShape, toBinary } from '@bufbuild/protobuf';

/**
 * The hash of a request as releases up to 0.2 stored it: without a key, in the order in which its
 * keys came. They stored answers in the clear, for 24 hours: this may go in release 0.4.
 */
export function unsortedHash<Input extends DescMessage>(
  input: Input,
  request: MessageShape<Input>,
): Buffer {
  return createHash('sha256').update(toBinary(input, request)).digest();
}
