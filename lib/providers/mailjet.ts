import { create } from '@bufbuild/protobuf';
import { MailjetSettingsSchema } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { invalidField } from '../errors/errors.ts';
import { checkedKey } from './checks.ts';
import { kindOfProvider } from './kind.ts';

/** Mailjet. */
export const mailjet = kindOfProvider({
  kind: 'mailjet',
  schema: MailjetSettingsSchema,
  missing: 'Mailjet settings required when email provider kind is mailjet',
  secrets: ['api_key', 'secret_key'],
  account: [],
  check(given, path) {
    const place = { of: 'Mailjet', path };
    const apiKey = checkedKey(given.apiKey, 'api_key', place);
    const secretKey = checkedKey(given.secretKey, 'secret_key', place);
    // Of basic authentication.
    if (apiKey.includes(':')) {
      throw invalidField(`${path}.api_key`, 'api_key of the Mailjet configuration has a colon');
    }
    return create(MailjetSettingsSchema, { apiKey, secretKey, sandboxMode: given.sandboxMode });
  },
});
