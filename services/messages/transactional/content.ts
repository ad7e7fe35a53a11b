import type { JsonObject } from '@bufbuild/protobuf';
import type { Keyring } from '#lib/keys/keyring.ts';
import type { Extras } from '../delivery/delivery-run.ts';
import type { MailFile } from '../mime/files.ts';
import { textOverride } from '../render/overrides.ts';

/** What differs from the template, as the caller gave it. */
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

/** What a transactional message is made from beside its template and its contact. Stored sealed. */
export type RequestContent = {
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

/** What is rendered and sent beside the template. Copies to `dropped` addresses are left out. */
export function extrasOf(
  { data, options }: Pick<RequestContent, 'data' | 'options'>,
  files: readonly MailFile[],
  dropped: ReadonlySet<string>,
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
