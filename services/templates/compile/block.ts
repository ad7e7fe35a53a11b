import type { JsonObject } from '@bufbuild/protobuf';
import { invalidField } from '#lib/errors/errors.ts';
import { ContentError } from './content-error.ts';
import { checkTree } from './tree.ts';

const blockMaxBytes = 256 * 1024;

/** A block of a visual tree. Every mistake is a 400 that names the field. */
export function checkBlock(block: JsonObject | undefined): JsonObject {
  if (!block) throw invalidField('block', 'block is required');
  if (typeof block.type !== 'string' || block.type === '') {
    throw invalidField('block.type', 'block kind is required');
  }
  if (Buffer.byteLength(JSON.stringify(block)) > blockMaxBytes) {
    throw invalidField('block', 'block is larger than 256 KiB');
  }
  try {
    checkTree(block);
  } catch (error) {
    if (error instanceof ContentError) throw invalidField('block', error.message);
    throw error;
  }
  return block;
}
