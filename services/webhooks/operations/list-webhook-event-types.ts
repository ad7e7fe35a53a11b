import type { Methods } from '../context.ts';
import { eventTypes } from '../input/event-types.ts';

export function listWebhookEventTypes(): Methods['listWebhookEventTypes'] {
  return async () => ({ eventTypes: [...eventTypes] });
}
