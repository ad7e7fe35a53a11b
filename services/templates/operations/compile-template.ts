import type { JsonObject } from '@bufbuild/protobuf';
import {
  type CompileTemplateRequest,
  TemplateChannel,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import { invalidField } from '#lib/rpc/errors.ts';
import type { Compiler } from '../compile/compiler.ts';
import { ContentError } from '../compile/content-error.ts';
import { mjmlSource, treeSource } from '../compile/source.ts';
import type { Context, Methods } from '../context.ts';

export function compileTemplate({ compiler }: Context): Methods['compileTemplate'] {
  return async (request) => {
    if (!request.mjmlSource && !request.visualEditorTree) {
      throw invalidField('visual_editor_tree', 'visual_editor_tree or mjml_source is required');
    }
    try {
      return { success: true, ...(await preview(compiler, request)) };
    } catch (error) {
      if (!(error instanceof ContentError)) throw error;
      const { message, issues } = error;
      return { success: false, error: { message, issues: [...issues] } };
    }
  };
}

async function preview(compiler: Compiler, request: CompileTemplateRequest) {
  const source = request.mjmlSource
    ? mjmlSource(request.mjmlSource)
    : treeSource(request.visualEditorTree);
  const data = dataOf(request);
  const fill = async (text: string) => {
    if (text === '') return undefined;
    await compiler.parse('text', text);
    if (data) return compiler.render('text', text, data);
    return text;
  };
  const subject = await fill(request.subject);
  const subjectPreview = await fill(request.subjectPreview);
  const { mjml, html, warnings } = await compiler.preview(source, data);
  return { subject, subjectPreview, mjml, html, warnings: [...warnings] };
}

/** Without data, and for pages, Liquid stays as it is. */
function dataOf({
  testData,
  channel,
  preserveLiquid,
}: CompileTemplateRequest): JsonObject | undefined {
  if (preserveLiquid || channel === TemplateChannel.WEB) return undefined;
  return testData && Object.keys(testData).length > 0 ? testData : undefined;
}
