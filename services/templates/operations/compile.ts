import type { JsonObject } from '@bufbuild/protobuf';
import type { ServiceImpl } from '@connectrpc/connect';
import {
  type CompileTemplateRequest,
  TemplateChannel,
  type TemplateService,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import { invalidField } from '#lib/rpc/errors.ts';
import type { Compiler } from '../compile/compiler.ts';
import { ContentError } from '../compile/content-error.ts';
import { protectLiquid } from '../compile/protect.ts';
import { treeToMjml } from '../compile/tree.ts';
import type { Context } from '../context.ts';

export function compile({
  compiler,
}: Context): ServiceImpl<typeof TemplateService>['compileTemplate'] {
  return async (request) => {
    if (!request.mjmlSource && !request.visualEditorTree) {
      throw invalidField('visual_editor_tree', 'visual_editor_tree or mjml_source is required');
    }
    try {
      return { success: true, ...(await preview(compiler, request)) };
    } catch (error) {
      if (!(error instanceof ContentError)) throw error;
      return { success: false, error: { message: error.message } };
    }
  };
}

async function preview(compiler: Compiler, request: CompileTemplateRequest) {
  const source = request.mjmlSource || treeToMjml(request.visualEditorTree ?? {});
  const data = dataOf(request);
  const fill = async (place: 'html' | 'text', text: string) => {
    if (text === '') return undefined;
    if (data) return compiler.render(place, text, data);
    await compiler.parse(place, text);
    return text;
  };
  const subject = await fill('text', request.subject);
  const subjectPreview = await fill('text', request.subjectPreview);
  const mjml = await fill('html', source);
  const { mjml: hidden, restore } = protectLiquid(mjml ?? '');
  return { subject, subjectPreview, mjml, html: restore(await compiler.toHtml(hidden)) };
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
