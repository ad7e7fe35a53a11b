import { create } from '@bufbuild/protobuf';
import { ResendSettingsSchema } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { checkedKey } from './checks.ts';
import { kindOfProvider } from './kind.ts';

/** Resend. */
export const resend = kindOfProvider({
  kind: 'resend',
  schema: ResendSettingsSchema,
  missing: 'Resend settings required when email provider kind is resend',
  secrets: ['api_key', 'webhook_secret'],
  account: [],
  check(given, path) {
    const place = { of: 'Resend', path };
    return create(ResendSettingsSchema, {
      apiKey: checkedKey(given.apiKey, 'api_key', place),
      webhookSecret: checkedKey(given.webhookSecret, 'webhook_secret', place),
    });
  },
});
