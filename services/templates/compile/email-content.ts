import { create, type JsonObject } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { type EmailContent, EmailContentSchema } from '#gen/postrider/templates/v1/templates_pb.ts';
import { canonicalAddress } from '#lib/address.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { subjectName } from '#lib/liquid/variables.ts';
import type { CompiledMail } from '../template.ts';
import type { Compiler } from './compiler.ts';
import { ContentError } from './content-error.ts';
import { mjmlSource, type Source, treeSource } from './source.ts';

const lengthMax = 255;

type Options = {
  compiler: Compiler;
  field: string;
  /** Of its readers; BCP 47. */
  language: string;
  testData: JsonObject | undefined;
  layout: Source | undefined;
};

/**
 * Checks a mail's content and compiles it. Every mistake is a 400 that names the field below
 * `field`.
 */
export async function compileEmail(
  given: EmailContent,
  { compiler, field, language, testData, layout }: Options,
): Promise<{ content: EmailContent; compiled: CompiledMail }> {
  const mode = checkTexts(given, field);
  const source = mode === 'code' ? 'mjml_source' : 'visual_editor_tree';
  const at = <Result>(part: string, work: Promise<Result>) =>
    refuse(work, `${field}.${part}`, part);
  // Both are in the head as well, where a mistake would be reported for the source.
  await at('subject', compiler.parse('text', given.subject));
  await at('subject_preview', compiler.parse('text', given.subjectPreview));
  const head = { title: `{{ ${subjectName} }}`, preview: given.subjectPreview, language };
  const wrapped = layout ? { ...sourceOf(given), layout } : sourceOf(given);
  const body = await at(source, compiler.compile(wrapped, head, testData ?? {}));
  await at('text', compiler.parse('text', given.text));
  const content = create(EmailContentSchema, {
    ...given,
    editorMode: mode,
    compiledPreview: (!layout && given.compiledPreview) || body.mjml,
  });
  const { subject, text, senderId: sender_id } = given;
  const reply_to = canonicalAddress(given.replyTo) ?? '';
  const compiled = { subject, html: '', mjml: body.whole, text, sender_id, reply_to };
  return { content, compiled };
}

function checkTexts(email: EmailContent, field: string): 'visual' | 'code' {
  const mode = email.editorMode || 'visual';
  if (mode !== 'visual' && mode !== 'code') {
    throw invalidField(`${field}.editor_mode`, "editor_mode must be 'visual' or 'code'");
  }
  if (email.subject === '') throw invalidField(`${field}.subject`, 'subject is required');
  if (email.subject.length > lengthMax) {
    throw invalidField(`${field}.subject`, 'subject length must be between 1 and 255');
  }
  if (mode === 'code' && email.mjmlSource === '') {
    throw invalidField(`${field}.mjml_source`, 'mjml_source is required for code mode');
  }
  if (mode === 'visual' && !email.visualEditorTree) {
    throw invalidField(
      `${field}.visual_editor_tree`,
      'visual_editor_tree is required for visual mode',
    );
  }
  if (email.replyTo !== '' && !canonicalAddress(email.replyTo)) {
    throw invalidField(`${field}.reply_to`, 'reply_to is not a valid email');
  }
  if (email.subjectPreview.length > lengthMax) {
    throw invalidField(
      `${field}.subject_preview`,
      'subject_preview length must be between 1 and 255',
    );
  }
  return mode;
}

export function sourceOf(email: EmailContent): Source {
  const isCode = email.editorMode === 'code';
  return isCode ? mjmlSource(email.mjmlSource) : treeSource(email.visualEditorTree);
}

/** The result of compiling a part, whose mistakes are a 400 that names the field. */
export async function refuse<Result>(
  work: Promise<Result>,
  field: string,
  part: string,
): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ContentError) throw invalidField(field, contentFault(part, error));
    if (error instanceof ConnectError) throw error;
    throw new ConnectError('compiling failed', Code.Internal, undefined, undefined, error);
  }
}

function contentFault(part: string, { message }: ContentError): string {
  return message.includes(part) ? message : `${part} does not compile: ${message}`;
}
