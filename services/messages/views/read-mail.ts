import type { MessageInitShape } from '@bufbuild/protobuf';
import PostalMime, { decodeWords } from 'postal-mime';
import type { MessageContentSchema } from '#gen/postrider/messages/v1/messages_pb.ts';

export type ReadMail = MessageInitShape<typeof MessageContentSchema>;

/** Undefined for a mail that was written elsewhere and cannot be read. */
export async function readMail(mail: Uint8Array): Promise<ReadMail | undefined> {
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
