import { createRequire } from 'node:module';
import { parentPort } from 'node:worker_threads';
import { newContext, type Place, renderNodes } from '#lib/liquid/engine.ts';
import { parseLiquid } from '#lib/liquid/parse.ts';

/** A thread that compiles what may take long. Whoever waits for it kills it when it does. */
export type Work =
  | { do: 'mjml'; mjml: string }
  | { do: 'parse'; place: Place; source: string }
  | { do: 'render'; place: Place; source: string; data: Record<string, unknown> };

export type Answer = { text: string } | { error: string };

type Mjml = (source: string, options: object) => Promise<{ html: string }>;

parentPort?.on('message', async (work: Work) => {
  parentPort?.postMessage(await answer(work));
});

async function answer(work: Work): Promise<Answer> {
  try {
    return { text: await result(work) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : 'unknown' };
  }
}

async function result(work: Work): Promise<string> {
  if (work.do === 'mjml') {
    const mjml: Mjml = createRequire(import.meta.url)('mjml');
    // Includes would read files of this machine.
    const { html } = await mjml(work.mjml, { validationLevel: 'skip', ignoreIncludes: true });
    return html;
  }
  const templates = parseLiquid(work.source, work.place);
  if (work.do === 'parse') return '';
  return renderNodes(work.place, templates, newContext(work.place, work.data));
}
