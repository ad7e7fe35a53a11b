import PostalMime from 'postal-mime';

/** A mail, as a provider has understood it. */
export type SeenMail = {
  /** The message's id, by which reports name it. */
  id: string;
  /** The recipient, and then the copies. */
  recipients: string[];
  from: string;
  subject: string;
  text: string;
  html: string;
  /** By names in lower case. */
  headers: Record<string, string>;
  files: SeenFile[];
  /** Of Postmark. */
  stream?: string;
};

export type SeenFile = { name: string; type: string; contentId: string; text: string };

export const fileOf = (
  name: string,
  type: string,
  given: { base64: string; contentId: string },
) => ({
  ...{ name, type, contentId: given.contentId },
  text: Buffer.from(given.base64, 'base64').toString(),
});

export const lowerNames = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** Reads a raw mail; the envelope and the id come with it. */
export async function readMime(
  mime: Buffer,
  given: { id: string; recipients: string[] },
): Promise<SeenMail> {
  const mail = await PostalMime.parse(mime, { attachmentEncoding: 'utf8' });
  return {
    ...given,
    from: mail.from?.address ?? '',
    subject: mail.subject ?? '',
    text: mail.text ?? '',
    html: mail.html ?? '',
    headers: Object.fromEntries(mail.headers.map(({ key, value }) => [key, value])),
    files: mail.attachments.map(({ filename, mimeType, contentId = '', content }) => ({
      name: filename ?? '',
      type: mimeType,
      contentId: contentId.replace(/^<|>$/g, ''),
      text: String(content),
    })),
  };
}

/** The parts of a form with files, by name. */
export function readForm(body: Buffer, contentType: string): [name: string, value: string][] {
  const boundary = /boundary="([^"]+)"/.exec(contentType)?.[1] ?? '';
  const parts = body.toString('latin1').split(`--${boundary}`).slice(1, -1);
  return parts.map((part) => {
    const [head = '', ...rest] = part.slice(2, -2).split('\r\n\r\n');
    return [/name="([^"]+)"/.exec(head)?.[1] ?? '', rest.join('\r\n\r\n')];
  });
}
