import { create } from '@bufbuild/protobuf';
import { SendGridSettingsSchema } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { checkedKey, checkedText } from './checks.ts';
import { kindOfProvider } from './kind.ts';

/** SendGrid. */
export const sendgrid = kindOfProvider({
  kind: 'sendgrid',
  schema: SendGridSettingsSchema,
  missing: 'SendGrid settings required when email provider kind is sendgrid',
  secrets: ['api_key'],
  // A key goes to the region that it was given for.
  account: ['region'],
  check(given, path) {
    const place = { of: 'SendGrid', path };
    const region = { name: 'region', form: /^(global|eu)$/, saying: 'global or eu' };
    const publicKey = {
      ...{ name: 'webhook_public_key', saying: 'a key in base64' },
      form: /^[A-Za-z0-9+/]{1,1000}={0,2}$/,
    };
    return create(SendGridSettingsSchema, {
      apiKey: checkedKey(given.apiKey, 'api_key', place),
      region: checkedText(given.region, region, place),
      webhookPublicKey: checkedText(given.webhookPublicKey, publicKey, place),
    });
  },
});
