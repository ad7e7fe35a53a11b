import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { Pause } from '../receivers/pauses.ts';

export function toPausedReceiver({ receiver, endsAt, pausedAt }: Pause) {
  return { receiver, until: timestampFromDate(endsAt), pausedAt: timestampFromDate(pausedAt) };
}
