import type { MessageInitShape } from '@bufbuild/protobuf';
import PostalMime, { decodeWords } from 'postal-mime';
import type { MessageContentSchema } from '#gen/postrider/messages/v1/messages_pb.ts';

/** A mail as the API shows it. */
export async function toMessageContent(
  mail: Buffer,
): Promise<MessageInitShape<typeof MessageContentSchema>> {
  const { subject = '', html = '', text = '', headers } = await PostalMime.parse(mail);
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
