import { type JsonObject, toJson } from '@bufbuild/protobuf';
import { type WebContent, WebContentSchema } from '#gen/postrider/templates/v1/templates_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import type { Compiler } from '../compile/compiler.ts';
import { refuse } from '../compile/email-content.ts';

const partMaxBytes = 500 * 1024;

/** Checks a page's content. Every mistake is a 400 that names the field below `field`. */
export async function checkWeb(
  web: WebContent,
  { compiler, field }: { compiler: Compiler; field: string },
): Promise<JsonObject> {
  const { content, html, plainText } = web;
  if (!content || Object.keys(content).length === 0) {
    throw invalidField(`${field}.content`, 'content is required');
  }
  checkSize(`${field}.content`, 'content', JSON.stringify(content));
  checkSize(`${field}.html`, 'html', html);
  checkSize(`${field}.plain_text`, 'plain_text', plainText);
  await refuse(compiler.parse('html', html), `${field}.html`, 'html');
  await refuse(compiler.parse('text', plainText), `${field}.plain_text`, 'plain_text');
  return toJson(WebContentSchema, web, { useProtoFieldName: true }) as JsonObject;
}

function checkSize(field: string, part: string, text: string): void {
  if (Buffer.byteLength(text) > partMaxBytes) {
    throw invalidField(field, `${part} is larger than 500 KiB`);
  }
}
