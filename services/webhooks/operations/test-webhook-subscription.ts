import type { Context, Methods } from '../context.ts';

export function testWebhookSubscription(_context: Context): Methods['testWebhookSubscription'] {
  return async () => ({});
}
