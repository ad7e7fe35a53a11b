import { createRequire } from 'node:module';
import { parentPort } from 'node:worker_threads';
import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { newContext, renderNodes, type SourcePlace } from '#lib/liquid/engine.ts';
import { checkLiquid, parseLiquid } from '#lib/liquid/parse.ts';
import { fixBlocks } from './blocks.ts';
import { compactHtml } from './compact.ts';
import { ContentError, type Issue } from './content-error.ts';
import { type Head, withHead } from './head.ts';
import { checkLayout, unwrapped, type Whole, wrapInLayout } from './layout.ts';
import { type MailPreview, type PreviewRequest, previewMail } from './preview.ts';
import { type Protected, protectLiquid } from './protect.ts';
import type { Source } from './source.ts';
import { treeToMjml } from './tree.ts';

/**
 * A thread that compiles templates, which may run long. The main thread kills it after a timeout.
 */

export type CompileWork =
  | { do: 'compile'; source: Source; head: Head; data: JsonObject }
  | { do: 'preview'; source: Source; request: PreviewRequest }
  | { do: 'layout'; source: Source }
  | { do: 'parse'; place: SourcePlace; source: string }
  | { do: 'render'; place: SourcePlace; source: string; data: JsonObject };

export type CompileAnswer =
  | { html: string; mjml: string; makesBlocks: boolean; warnings: readonly Issue[] }
  | { preview: MailPreview }
  | { text: string }
  | { error: string; issues: readonly Issue[] };

type Mjml = (
  source: string,
  options: object,
) => Promise<{ html: string; errors: { line: number; tagName: string; message: string }[] }>;

parentPort?.on('message', async (work: CompileWork) => {
  parentPort?.postMessage(await answer(work));
});

async function answer(work: CompileWork): Promise<CompileAnswer> {
  try {
    return await result(work);
  } catch (error) {
    const issues = error instanceof ContentError ? error.issues : [];
    const message = error instanceof Error ? error.message : 'unknown';
    // Parsers call themselves for each level.
    const isDeep = message.includes('Maximum call stack size exceeded');
    return { error: isDeep ? 'it is nested too deeply' : message, issues };
  }
}

async function result(work: CompileWork): Promise<CompileAnswer> {
  switch (work.do) {
    case 'compile':
      return compile(work);
    case 'preview':
      return preview(work);
    case 'layout':
      checkLayout(mjmlOf(work.source));
      return { text: '' };
    case 'parse':
      checkLiquid(work.source, work.place);
      return { text: '' };
    case 'render':
      return { text: render(work.place, work.source, work.data) };
  }
}

async function compile({
  source,
  head,
  data,
}: CompileWork & { do: 'compile' }): Promise<CompileAnswer> {
  const { mjml, warningsOf } = withLayout(source);
  const whole = withHead(mjml, head);
  const hidden = protectLiquid(whole);
  if (!hidden.makesBlocks) {
    const { html, issues } = await toHtml(hidden);
    const warnings = warningsOf(issues, false);
    checkLiquid(html, 'html');
    return { html, mjml, makesBlocks: false, warnings };
  }
  checkLiquid(whole, 'html');
  const fixed = await fixedHtml(hidden);
  if (fixed) {
    const { html, issues } = fixed;
    return { html, mjml, makesBlocks: false, warnings: warningsOf(issues, false) };
  }
  const { issues } = await toHtml(protectLiquid(render('html', whole, data)));
  return { html: '', mjml: whole, makesBlocks: true, warnings: warningsOf(issues, true) };
}

/** Undefined where each recipient's values have to be known first. */
async function fixedHtml(
  hidden: Protected,
): Promise<{ html: string; issues: Issue[] } | undefined> {
  const fixed = fixBlocks(hidden);
  if (!fixed) return undefined;
  // Issues name the lines of the source.
  const { issues } = await toHtml(hidden);
  const { html } = await toHtml({ ...hidden, mjml: fixed.mjml });
  const whole = hidden.restore(fixed.before) + html;
  try {
    checkLiquid(whole, 'html');
  } catch {
    return undefined;
  }
  return { html: whole, issues };
}

async function preview({
  source,
  request,
}: CompileWork & { do: 'preview' }): Promise<CompileAnswer> {
  const given = withLayout(source);
  const toPreview = async (mjml: string, head: Head, keepsLiquid: boolean) => {
    const hidden = protectLiquid(withHead(mjml, head));
    const fixed = keepsLiquid && hidden.makesBlocks ? await fixedHtml(hidden) : undefined;
    const { html, issues } = fixed ?? (await toHtml(hidden));
    return { html, warnings: given.warningsOf(issues, !keepsLiquid) };
  };
  return { preview: await previewMail(given.mjml, request, { render, toHtml: toPreview }) };
}

function withLayout({ layout, ...source }: Source): Whole {
  const mjml = mjmlOf(source);
  if (!layout) return unwrapped(mjml, source.kind);
  const { kind } = source;
  return wrapInLayout({ mjml, kind }, { mjml: mjmlOf(layout), kind: layout.kind });
}

/** A tree travels as JSON, since its size is known then. */
function mjmlOf({ kind, text }: Source): string {
  if (kind === 'mjml') return text;
  const tree: JsonValue = JSON.parse(text);
  if (tree === null || typeof tree !== 'object' || Array.isArray(tree)) return treeToMjml({});
  return treeToMjml(tree);
}

async function toHtml(hidden: Protected): Promise<{ html: string; issues: Issue[] }> {
  const mjml: Mjml = createRequire(import.meta.url)('mjml');
  // Includes would read files of this machine.
  const options = { validationLevel: 'soft', ignoreIncludes: true };
  const { html, errors } = await mjml(hidden.mjml, options);
  const issues = errors
    .filter(({ message }) => !hidden.isAboutLiquid(message))
    .map(({ line, tagName: tag, message }) => ({
      code: 'mjml' as const,
      line: hidden.sourceLine(line),
      tag,
      message,
    }));
  // Captured text may be split into lines, or shown where white space counts.
  const isCaptured = /\{%-?\s*capture\b/.test(hidden.restore(hidden.mjml));
  const compact = isCaptured ? html : compactHtml(html, hidden.isAboutLiquid);
  return { html: hidden.restore(compact), issues };
}

function render(place: SourcePlace, source: string, data: JsonObject): string {
  return renderNodes(place, parseLiquid(source, place), newContext(place, data));
}
