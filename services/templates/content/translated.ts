import { create } from '@bufbuild/protobuf';
import {
  type EmailContent,
  EmailContentSchema,
  type WebContent,
  WebContentSchema,
} from '#gen/postrider/templates/v1/templates_pb.ts';

/**
 * A mail's content in another language: what the translation leaves out is that of the main
 * content. The text part follows the source, since a text in one language must not stand beside a
 * body in another.
 */
export function translatedEmail(given: EmailContent, own: EmailContent): EmailContent {
  const hasSource = given.mjmlSource !== '' || given.visualEditorTree !== undefined;
  const source = hasSource ? given : own;
  return create(EmailContentSchema, {
    editorMode: given.editorMode || own.editorMode,
    mjmlSource: source.mjmlSource,
    ...(source.visualEditorTree && { visualEditorTree: source.visualEditorTree }),
    text: given.text || (hasSource ? '' : own.text),
    subject: given.subject || own.subject,
    subjectPreview: given.subjectPreview || own.subjectPreview,
    senderId: given.senderId || own.senderId,
    replyTo: given.replyTo || own.replyTo,
    compiledPreview: given.compiledPreview,
  });
}

/** A page's content in another language, in the same way. */
export function translatedWeb(given: WebContent, own: WebContent): WebContent {
  const content = given.content ?? own.content;
  return create(WebContentSchema, {
    ...(content && { content }),
    html: given.html || own.html,
    plainText: given.plainText || (given.html === '' ? own.plainText : ''),
  });
}
