import type { MessageInitShape } from '@bufbuild/protobuf';
import PostalMime, { decodeWords } from 'postal-mime';
import type { MessageContentSchema } from '#gen/postrider/messages/v1/messages_pb.ts';

/** A mail as the API shows it; undefined for one that was written elsewhere and cannot be read. */
export async function toMessageContent(
  mail: Buffer,
): Promise<MessageInitShape<typeof MessageContentSchema> | undefined> {
  const parsed = await PostalMime.parse(mail).catch(() => undefined);
  if (!parsed) return undefined;
  const { subject = '', html = '', text = '', headers } = parsed;
  return {
    subject,
    html,
    text,
    headers: headers.map(({ originalKey: name, value }) => ({
      name,
      value: decodeWords(value),
    })),
  };
}
