import { createRequire } from 'node:module';
import { parentPort } from 'node:worker_threads';
import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import { newContext, type Place, renderNodes } from '#lib/liquid/engine.ts';
import { checkLiquid, parseLiquid } from '#lib/liquid/parse.ts';
import { compactHtml } from './compact.ts';
import { ContentError, type Issue } from './content-error.ts';
import { type Head, withHead } from './head.ts';
import { checkLayout, unwrapped, type Whole, wrapInLayout } from './layout.ts';
import { protectLiquid } from './protect.ts';
import type { Source } from './source.ts';
import { treeToMjml } from './tree.ts';

/** A thread that compiles templates, which may run long. The main thread kills it after a timeout. */

export type Work =
  | { do: 'compile'; source: Source; head: Head; data: JsonObject }
  | { do: 'preview'; source: Source; data: JsonObject | undefined }
  | { do: 'layout'; source: Source }
  | { do: 'parse'; place: Place; source: string }
  | { do: 'render'; place: Place; source: string; data: JsonObject };

export type Answer =
  | { html: string; mjml: string; makesBlocks: boolean; warnings: readonly Issue[] }
  | { text: string }
  | { error: string; issues: readonly Issue[] };

type Mjml = (
  source: string,
  options: object,
) => Promise<{ html: string; errors: { line: number; tagName: string; message: string }[] }>;

parentPort?.on('message', async (work: Work) => {
  parentPort?.postMessage(await answer(work));
});

async function answer(work: Work): Promise<Answer> {
  try {
    return await result(work);
  } catch (error) {
    const issues = error instanceof ContentError ? error.issues : [];
    return { error: error instanceof Error ? error.message : 'unknown', issues };
  }
}

async function result(work: Work): Promise<Answer> {
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

async function compile({ source, head, data }: Work & { do: 'compile' }): Promise<Answer> {
  const { mjml, judge } = wholeOf(source);
  const whole = withHead(mjml, head);
  const { makesBlocks } = protectLiquid(whole);
  if (makesBlocks) {
    checkLiquid(whole, 'html');
    const { issues } = await toHtml(render('html', whole, data));
    return { html: '', mjml: whole, makesBlocks, warnings: judge(issues, true) };
  }
  const { html, issues } = await toHtml(whole);
  const warnings = judge(issues, false);
  checkLiquid(html, 'html');
  return { html, mjml, makesBlocks, warnings };
}

async function preview({ source, data }: Work & { do: 'preview' }): Promise<Answer> {
  const given = wholeOf(source);
  checkLiquid(given.mjml, 'html');
  const mjml = data === undefined ? given.mjml : render('html', given.mjml, data);
  const { html, issues } = await toHtml(mjml);
  return { html, mjml, makesBlocks: false, warnings: given.judge(issues, data !== undefined) };
}

function wholeOf({ layout, ...source }: Source): Whole {
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

async function toHtml(source: string): Promise<{ html: string; issues: Issue[] }> {
  const hidden = protectLiquid(source);
  const mjml: Mjml = createRequire(import.meta.url)('mjml');
  // Includes would read files of this machine.
  const options = { validationLevel: 'soft', ignoreIncludes: true };
  const { html, errors } = await mjml(hidden.mjml, options);
  const issues = errors
    .filter(({ message }) => !hidden.isAboutLiquid(message))
    .map(({ line, tagName: tag, message }) => ({ line: hidden.sourceLine(line), tag, message }));
  // What Liquid captures may be split into lines, or shown where white space counts.
  const isCaptured = /\{%-?\s*capture\b/.test(source);
  const compact = isCaptured ? html : compactHtml(html, hidden.isAboutLiquid);
  return { html: hidden.restore(compact), issues };
}

function render(place: Place, source: string, data: JsonObject): string {
  return renderNodes(place, parseLiquid(source, place), newContext(place, data));
}
