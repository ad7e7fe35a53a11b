import type { Methods } from '../context.ts';
import { eventTypes } from '../event-types.ts';

export function listWebhookEventTypes(): Methods['listWebhookEventTypes'] {
  return async () => ({ eventTypes: [...eventTypes] });
}
