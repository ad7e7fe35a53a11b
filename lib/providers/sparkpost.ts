import { create } from '@bufbuild/protobuf';
import { SparkPostSettingsSchema } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { checkedKey, checkedText } from './checks.ts';
import { kindOfProvider } from './kind.ts';

/** SparkPost (Bird). */
export const sparkpost = kindOfProvider({
  kind: 'sparkpost',
  schema: SparkPostSettingsSchema,
  missing: 'SparkPost settings required when email provider kind is sparkpost',
  secrets: ['api_key'],
  // A key goes to the host that it was given for.
  account: ['endpoint'],
  check(given, path) {
    const place = { of: 'SparkPost', path };
    const endpoint = {
      ...{ name: 'endpoint', form: /^https:\/\/api(\.eu)?\.sparkpost\.com$/ },
      saying: 'https://api.sparkpost.com or https://api.eu.sparkpost.com',
    };
    return create(SparkPostSettingsSchema, {
      apiKey: checkedKey(given.apiKey, 'api_key', place),
      sandboxMode: given.sandboxMode,
      endpoint: checkedText(given.endpoint, endpoint, place),
    });
  },
});
