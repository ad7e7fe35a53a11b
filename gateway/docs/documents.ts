import type { Route } from '../api/routes.ts';
import { pageHeaders } from '../html/headers.ts';
import type { HtmlPage } from '../html/page.ts';
import type { HttpAnswer } from '../http/answer.ts';
import { createDocument } from '../openapi/document.ts';
import { fixedAnswer, fixedPage } from '../static/fixed.ts';
import { errorsPage } from './errors.ts';
import { eventsPage } from './events.ts';
import { limitsPage } from './limits.ts';
import { liquidPage } from './liquid.ts';
import type { DocsPage } from './page.ts';
import { previewFiles, previewPage } from './preview.ts';
import { referenceFiles, referencePage } from './reference.ts';
import { quickstartPrograms, startPage } from './start.ts';
import { variablesPage } from './variables.ts';

/** The first page, the OpenAPI document, and the pages below `/docs`. */
export function documentsPage(routes: ReadonlyMap<string, readonly Route[]>): HtmlPage {
  const pages: [path: string, page: DocsPage][] = [
    ['/', startPage()],
    ['/docs', referencePage],
    ['/docs/liquid', liquidPage()],
    ['/docs/preview', previewPage],
    ['/docs/errors', errorsPage()],
    ['/docs/events', eventsPage()],
    ['/docs/limits', limitsPage(routes)],
    ['/docs/variables', variablesPage()],
  ];
  const document = `${JSON.stringify(createDocument(routes))}\n`;
  return fixedPage(
    'documents',
    new Map([
      ...pages.map(([path, page]) => [path, answerOf(page)] as const),
      ...quickstartPrograms().map(
        ([path, text]) => [path, fixedAnswer('text/plain', text)] as const,
      ),
      ['/openapi.json', fixedAnswer('application/json', document)],
      ...[...referenceFiles, ...previewFiles].map(({ path, answer }) => [path, answer] as const),
    ]),
  );
}

function answerOf({ text, policy }: DocsPage): HttpAnswer {
  return fixedAnswer('text/html', text, pageHeaders(policy));
}
