import { installationMark, markPath } from '#lib/installation-mark.ts';
import type { HtmlPage } from '../html/page.ts';
import { fixedAnswer, fixedPage } from './fixed.ts';

/**
 * Says which installation the gateway belongs to, so that a check of a tracking host knows its own
 * answer from that of any other server. Nothing where the gateway does not know its address.
 */
export function markPage(publicUrl: string): HtmlPage {
  const answers = URL.canParse(publicUrl) ? [[markPath, markAnswer(publicUrl)] as const] : [];
  return fixedPage('mark', new Map(answers));
}

const markAnswer = (publicUrl: string) => fixedAnswer('text/plain', installationMark(publicUrl));
