import { create } from '@bufbuild/protobuf';
import { PostmarkSettingsSchema } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { checkedKey, checkedText } from './checks.ts';
import { kindOfProvider } from './kind.ts';

/** Postmark. */
export const postmark = kindOfProvider({
  kind: 'postmark',
  schema: PostmarkSettingsSchema,
  missing: 'Postmark settings required when email provider kind is postmark',
  secrets: ['server_token'],
  account: [],
  check(given, path) {
    const place = { of: 'Postmark', path };
    const stream = (name: string) => ({
      ...{ name, form: /^[A-Za-z0-9_-]{1,100}$/ },
      saying: '1 to 100 letters, digits, hyphens and underscores',
    });
    return create(PostmarkSettingsSchema, {
      serverToken: checkedKey(given.serverToken, 'server_token', place),
      messageStream: checkedText(given.messageStream, stream('message_stream'), place),
      broadcastStream: checkedText(given.broadcastStream, stream('broadcast_stream'), place),
    });
  },
});
