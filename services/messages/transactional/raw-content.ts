import { Code } from '@connectrpc/connect';
import type {
  RawContent,
  RawSender,
  TransactionalMessage,
} from '#gen/postrider/messages/v1/transactional_pb.ts';
import { canonicalAddress } from '#lib/address.ts';
import { invalidField, retryLater } from '#lib/errors/errors.ts';
import { convertsQuickly } from '#lib/html/text.ts';
import { ThreadBusyError } from '#lib/killable-thread.ts';
import type { RenderThread } from '../render/thread.ts';
import type { MailBody, StoredRawContent } from './content.ts';
import { type CheckedFile, checkFiles } from './files.ts';
import { checkHeaders, checkReplyTo, checkText } from './header-texts.ts';

/** A mail's content of its own, checked field by field, or a mail that goes out as it came. */
export type CheckedContent = {
  kind: 'content' | 'mime';
  stored: StoredRawContent;
  body: MailBody;
  files: readonly CheckedFile[];
  /** Empty for that of the notification or the settings. */
  integrationId: string;
  /** Undefined where the notification decides. */
  isTracked: boolean | undefined;
};

/** As much as a rendered part may have. */
const partMaxBytes = 1024 * 1024;
const integrationIdMax = 64;
/** It is parsed for each mail, in the thread of all workspaces. */
const liquidMax = 10_000;

/** Throws a 400 that names the first wrong field. `field` is the place of the message. */
export function checkContent(
  message: TransactionalMessage,
  content: RawContent,
  field: string,
): CheckedContent {
  checkBeside(message, content, field);
  const at = (name: string) => `${field}.content.${name}`;
  const { subject, html, text, from, replyTo, headers, integrationId, useLiquid } = content;
  if (subject === '') throw invalidField(at('subject'), 'content.subject is required');
  if (html === '' && text === '') {
    throw invalidField(at('html'), 'content needs html or text');
  }
  checkPart(html, 'html', at('html'));
  checkPart(text, 'text', at('text'));
  if (text === '' && !convertsQuickly(html)) {
    const fault = 'content.html has more than 10000 tags, so that content.text is needed beside it';
    throw invalidField(at('html'), fault);
  }
  if (useLiquid && countOf([subject, html, text], /\{[{%]/g) > liquidMax) {
    throw invalidField(at('html'), 'content has more than 10000 outputs and tags of Liquid');
  }
  if (integrationId.length > integrationIdMax) {
    throw invalidField(at('integration_id'), 'integration not found');
  }
  return {
    kind: 'content',
    stored: {
      subject: checkText(subject, 'content.subject', at('subject')),
      ...checkFrom(from, at('from')),
      reply_to: checkReplyTo(replyTo, at('reply_to')),
      ...(Object.keys(headers).length > 0 && { headers: checkHeaders(headers, at('headers')) }),
      use_liquid: useLiquid,
      body_bytes: Buffer.byteLength(html) + Buffer.byteLength(text),
    },
    body: { ...(html !== '' && { html }), ...(text !== '' && { text }) },
    files: checkFiles(content.attachments, at('attachments')),
    integrationId,
    isTracked: content.enableTracking,
  };
}

/** One way to say a thing: the content has these fields itself. */
function checkBeside(
  { emailOptions: options, data }: TransactionalMessage,
  { useLiquid }: RawContent,
  field: string,
): void {
  if (!useLiquid && data && Object.keys(data).length > 0) {
    throw invalidField(`${field}.data`, 'data needs content.use_liquid');
  }
  if (!options) return;
  const given = {
    subject: options.subject !== '',
    from_name: options.fromName !== '',
    reply_to: options.replyTo !== '',
    headers: Object.keys(options.headers).length > 0,
    attachments: options.attachments.length > 0,
    subject_preview: options.subjectPreview !== '',
  };
  for (const [name, isGiven] of Object.entries(given)) {
    if (!isGiven) continue;
    const text = `email_options.${name} must not be given beside content`;
    throw invalidField(`${field}.email_options.${name}`, text);
  }
}

function countOf(texts: readonly string[], pattern: RegExp): number {
  return texts.reduce((sum, text) => sum + (text.match(pattern)?.length ?? 0), 0);
}

function checkPart(part: string, name: string, field: string): void {
  if (Buffer.byteLength(part) > partMaxBytes) {
    throw invalidField(field, `content.${name} must be at most 1 MiB`);
  }
  if (part.includes('\0')) {
    throw invalidField(field, `content.${name} must not contain NUL characters`);
  }
}

function checkFrom(from: RawSender | undefined, field: string) {
  if (!from) return { from_email: '', from_name: '' };
  const email = canonicalAddress(from.email);
  if (!email) {
    throw invalidField(`${field}.email`, 'content.from.email must be one email address');
  }
  const name = checkText(from.name, 'content.from.name', `${field}.name`);
  return { from_email: email, from_name: name };
}

/** Throws a 400 where the content should be Liquid and is not. Parsed in a thread. */
export async function requireLiquid(
  thread: RenderThread,
  workspaceId: string,
  { content, field }: { content: CheckedContent | undefined; field: string },
): Promise<void> {
  if (!content?.stored.use_liquid || Buffer.isBuffer(content.body)) return;
  const { html = '', text = '' } = content.body;
  const parts = { subject: content.stored.subject, html, text };
  try {
    const fault = await thread.check(parts, workspaceId);
    if (!fault) return;
    const { part, reason } = fault;
    throw invalidField(
      `${field}.content.${part}`,
      `content.${part} is not valid Liquid: ${reason.split('\n')[0]}`,
    );
  } catch (error) {
    if (!(error instanceof ThreadBusyError)) throw error;
    throw retryLater('too many mails are being checked', Code.ResourceExhausted, 1_000);
  }
}
