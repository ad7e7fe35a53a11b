import { parentPort } from 'node:worker_threads';
import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { newContext, renderNodes, type SourcePlace } from '#lib/liquid/engine.ts';
import { checkLiquid, parseLiquid } from '#lib/liquid/parse.ts';
import { type MjmlIssue, mjmlToHtml } from '#lib/mail/mjml.ts';
import { fixBlocks } from './blocks.ts';
import { ContentError, type Issue } from './content-error.ts';
import { type Head, withHead } from './head.ts';
import { checkLayout, unwrapped, type Whole, wrapInLayout } from './layout.ts';
import {
  type MailPreview,
  type PreviewRequest,
  type PreviewSteps,
  previewMail,
} from './preview.ts';
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
  | { mjml: string; whole: string; warnings: readonly Issue[] }
  | { preview: MailPreview }
  | { text: string }
  | { error: string; issues: readonly Issue[] };

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
  checkLiquid(whole, 'html');
  const hidden = protectLiquid(whole);
  const isForeseen = !hidden.makesBlocks || fixBlocks(hidden) !== undefined;
  // MJML may fail where it computes with a word in place of Liquid.
  const kept = isForeseen ? await toHtml(hidden).catch(() => undefined) : undefined;
  const { issues } = kept ?? (await toHtml(protectLiquid(render('html', whole, data))));
  return { mjml, whole, warnings: warningsOf(issues, !kept) };
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
  const hidden = protectLiquid(given.mjml);
  const steps: PreviewSteps = {
    render,
    async keepLiquid(mjml) {
      const whole = protectLiquid(mjml);
      const fixed = whole.makesBlocks ? await fixedHtml(whole) : undefined;
      const { html, issues } = fixed ?? (await toHtml(whole));
      return { html, warnings: given.warningsOf(issues, false) };
    },
    async compile(mjml) {
      const { html, issues } = await mjmlToHtml(mjml, { isChecked: true });
      const found = issues.map((issue) => issueOf(issue, issue.line));
      return { html, warnings: await warningsOfRendered(given, hidden, found) };
    },
  };
  return { preview: await previewMail(given.mjml, request, steps) };
}

/**
 * Throws mistakes of the author. Mistakes that only the values bring are sent, so the preview shows
 * them with a warning.
 */
async function warningsOfRendered(
  { warningsOf }: Whole,
  hidden: Protected,
  issues: readonly Issue[],
): Promise<Issue[]> {
  try {
    return warningsOf(issues, true);
  } catch (error) {
    if (!(error instanceof ContentError) || hidden.makesBlocks) throw error;
    warningsOf((await toHtml(hidden)).issues, false);
    return [...issues];
  }
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

function issueOf({ tagName: tag, message }: MjmlIssue, line: number): Issue {
  return { code: 'mjml', line, tag, message };
}

/** MJML whose Liquid is hidden, to HTML with the Liquid. */
async function toHtml(hidden: Protected): Promise<{ html: string; issues: Issue[] }> {
  const { isAboutLiquid: isNeeded } = hidden;
  const { html, issues } = await mjmlToHtml(hidden.mjml, { isChecked: true, isNeeded });
  const found = issues
    .filter(({ message }) => !hidden.isAboutLiquid(message))
    .map((issue) => issueOf(issue, hidden.sourceLine(issue.line)));
  return { html: hidden.restore(html), issues: found };
}

function render(place: SourcePlace, source: string, data: JsonObject): string {
  return renderNodes(place, parseLiquid(source, place), newContext(place, data));
}
