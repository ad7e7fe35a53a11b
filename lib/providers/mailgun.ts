import { create } from '@bufbuild/protobuf';
import { MailgunSettingsSchema } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { checkedKey, checkedText } from './checks.ts';
import { kindOfProvider } from './kind.ts';

/** Mailgun. */
export const mailgun = kindOfProvider({
  kind: 'mailgun',
  schema: MailgunSettingsSchema,
  missing: 'Mailgun settings required when email provider kind is mailgun',
  secrets: ['api_key', 'webhook_signing_key'],
  // A key goes to the region that it was given for.
  account: ['domain', 'region'],
  check(given, path) {
    const place = { of: 'Mailgun', path };
    // The domain is a part of the path of each request.
    const domain = {
      ...{ name: 'domain', saying: 'a host name', isRequired: true },
      form: /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+$/i,
    };
    const region = { name: 'region', form: /^(US|EU)$/, saying: 'US or EU' };
    return create(MailgunSettingsSchema, {
      apiKey: checkedKey(given.apiKey, 'api_key', place),
      domain: checkedText(given.domain, domain, place),
      region: checkedText(given.region, region, place),
      webhookSigningKey: checkedKey(given.webhookSigningKey, 'webhook_signing_key', place),
    });
  },
});
