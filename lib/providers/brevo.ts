import { create } from '@bufbuild/protobuf';
import { BrevoSettingsSchema } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { checkedKey } from './checks.ts';
import { kindOfProvider } from './kind.ts';

/** Brevo. */
export const brevo = kindOfProvider({
  kind: 'brevo',
  schema: BrevoSettingsSchema,
  missing: 'Brevo settings required when email provider kind is brevo',
  secrets: ['api_key'],
  account: [],
  check: ({ apiKey }, path) =>
    create(BrevoSettingsSchema, { apiKey: checkedKey(apiKey, 'api_key', { of: 'Brevo', path }) }),
});
