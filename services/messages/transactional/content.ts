import type { JsonObject } from '@bufbuild/protobuf';
import type { Keyring } from '#lib/keys/keyring.ts';
import type { Extras } from '../delivery/delivery-run.ts';
import type { MailFile } from '../mime/files.ts';
import { textOverride } from '../render/overrides.ts';
import type { Counted } from '../render/tracked-mail.ts';

/** Differences from the template, as the caller gave them. */
export type StoredOptions = {
  from_name?: string;
  subject?: string;
  subject_preview?: string;
  reply_to?: string;
  cc?: string[];
  bcc?: string[];
  list_unsubscribe_url?: string;
  headers?: Record<string, string>;
};

/** A mail's content of its own, without HTML and text. */
export type StoredRawContent = {
  subject: string;
  /** Empty for the default sender of the integration. */
  from_email: string;
  from_name: string;
  reply_to: string;
  headers?: Record<string, string>;
  use_liquid: boolean;
  /** Of HTML and text together, or of the whole mail. They are stored apart, as a body. */
  body_bytes: number;
  /** As fields of a whole mail ask for it; absent where its notification decides. */
  counted?: Counted;
  /** Whether a whole mail came for several recipients, or names some. */
  has_others?: boolean;
};

/** HTML and text of a mail. At least one of them is there. */
export type MailTexts = { html?: string; text?: string };

/** The texts, or a whole mail, which goes out as it came. */
export type MailBody = MailTexts | Buffer;

/** A mail's own content: its texts with what stands beside them, or a whole mail. */
type OwnSource = { kind: 'content' | 'mime'; content: StoredRawContent };

/**
 * A mail is made from a template, which needs no kind, or from content of its own.
 */
type Source = { kind?: undefined } | OwnSource;

/** A transactional message as it is kept, beside its contact and its body. Stored sealed. */
export type RequestContent = Source & {
  data: JsonObject;
  metadata?: JsonObject;
  options: StoredOptions;
  /** UTM values of links. */
  utm: Record<string, string>;
  is_tracked: boolean;
  send_to_bounced: boolean;
  /** ISO 8601; absent if it was to be sent at once. */
  send_at?: string;
};

/** A file as the history shows it. */
export type StoredFile = {
  filename: string;
  content_type: string;
  disposition: 'attachment' | 'inline';
  content_id?: string;
  size_bytes: number;
  /** SHA-256 in hex. */
  checksum: string;
};

const purpose = 'message-requests';

export function sealRequest(
  keyring: Keyring,
  { workspaceId, id }: { workspaceId: string; id: string },
  content: RequestContent,
): Buffer {
  return keyring.box(purpose, workspaceId).seal(Buffer.from(JSON.stringify(content)), id);
}

export async function openRequest(
  keyring: Keyring,
  { workspaceId, id }: { workspaceId: string; id: string },
  sealed: Buffer,
): Promise<RequestContent> {
  const opened = await keyring.openBox(purpose, workspaceId, sealed, id);
  return JSON.parse(opened.toString());
}

/** A body is sealed beside its request, in a place of its own. */
export const bodyPlace = (id: string) => `${id}/body`;

export function sealBody(
  keyring: Keyring,
  { workspaceId, id }: { workspaceId: string; id: string },
  body: MailBody,
): Buffer {
  const plain = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  return keyring.box(purpose, workspaceId).seal(plain, bodyPlace(id));
}

export async function openBody(
  keyring: Keyring,
  { workspaceId, id }: { workspaceId: string; id: string },
  { sealed, kind }: { sealed: Buffer; kind: OwnSource['kind'] },
): Promise<MailBody> {
  const opened = await keyring.openBox(purpose, workspaceId, sealed, bodyPlace(id));
  return kind === 'mime' ? opened : JSON.parse(opened.toString());
}

/** The content of a mail of its own, beside its contact. */
export function ownExtras(
  { content, ...request }: Pick<OwnSource, 'content'> & Pick<RequestContent, 'data' | 'options'>,
  body: MailBody,
  given: ExtrasGiven,
): Extras {
  const extras = extrasOf(request, given);
  if (Buffer.isBuffer(body)) {
    const { counted, has_others: hasOthers = false } = content;
    return { ...extras, own: { mail: body, ...(counted && { counted }), hasOthers } };
  }
  const { subject, from_name: fromName, reply_to: replyTo, use_liquid: usesLiquid } = content;
  const headers = Object.entries(content.headers ?? {});
  return {
    ...extras,
    own: { subject, usesLiquid, ...body },
    options: { ...extras.options, fromName, replyTo, headers },
  };
}

/** Files of a mail, and the addresses that get no copy of it. */
type ExtrasGiven = { files: readonly MailFile[]; dropped: ReadonlySet<string> };

/** The content of a message beside its template. */
export function extrasOf(
  { data, options }: Pick<RequestContent, 'data' | 'options'>,
  { files, dropped }: ExtrasGiven,
): Extras {
  const cc = (options.cc ?? []).filter((email) => !dropped.has(email));
  const bcc = (options.bcc ?? []).filter((email) => !dropped.has(email));
  return {
    data,
    copies: [...new Set([...cc, ...bcc])],
    options: {
      fromName: options.from_name ?? '',
      subject: textOverride(options.subject ?? ''),
      previewLine: textOverride(options.subject_preview ?? ''),
      replyTo: options.reply_to ?? '',
      cc,
      listUnsubscribe: options.list_unsubscribe_url ?? '',
      headers: Object.entries(options.headers ?? {}),
      files,
    },
  };
}

export function mailFile(stored: StoredFile, content: Buffer): MailFile {
  const { filename, content_type: contentType, content_id } = stored;
  const contentId = stored.disposition === 'inline' ? (content_id ?? filename) : undefined;
  return { filename, contentType, contentId, content };
}
