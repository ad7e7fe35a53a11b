import type { SendResult } from '../record/results.ts';

/** The result of a message that its server took. */
export function sentResult(id: string): SendResult {
  return {
    id,
    status: 'sent',
    info: '250 ok',
    dueAt: undefined,
    isUnknown: false,
    isBounce: false,
  };
}
