import type { Issue } from './content-error.ts';
import { tagEnd } from './tags.ts';
import type { ParsedPart } from './unknown-variables.ts';
import { readRoots } from './unknown-variables.ts';

/** Gmail shows this much of a mail's HTML. */
const shownMaxBytes = 102 * 1024;
const issuesMax = 50;

/** Images in MJML that say nothing to who can't see them. An empty `alt` is a choice. */
export function imagesWithoutAlt(mjml: string): Issue[] {
  if (/<mj-(image|all|class)\b[^>]*\salt\s*=/.test(attributesBlock(mjml))) return [];
  const issues: Issue[] = [];
  let line = 1;
  let at = 0;
  for (const found of mjml.matchAll(/<(mj-image|mj-carousel-image|img)(?=[\s/>])/g)) {
    const [open, tag = ''] = found;
    const end = endOf(mjml, found.index + open.length, tag);
    if (/\salt\s*=/.test(mjml.slice(found.index, end))) continue;
    line += mjml.slice(at, found.index).split('\n').length - 1;
    at = found.index;
    const message =
      'the image has no alt text; say what it shows, or set alt="" if it only decorates';
    issues.push({ code: 'image_without_alt', line, tag, message });
    if (issues.length >= issuesMax) break;
  }
  return issues;
}

function attributesBlock(mjml: string): string {
  const start = mjml.indexOf('<mj-attributes');
  const end = mjml.indexOf('</mj-attributes', start);
  return start < 0 || end < 0 ? '' : mjml.slice(start, end);
}

function endOf(mjml: string, from: number, tag: string): number {
  try {
    return tagEnd(mjml, from, tag);
  } catch {
    return mjml.length;
  }
}

export function clipped(sizeBytes: number): Issue[] {
  if (sizeBytes <= shownMaxBytes) return [];
  const message = `the HTML has ${Math.ceil(sizeBytes / 1024)} KiB; Gmail shows the first 102 KiB and hides the rest`;
  return [{ code: 'clipped', line: 0, tag: 'html', message }];
}

/** Whether readers can leave by a link that they see. */
export function withoutUnsubscribeLink(html: ParsedPart): Issue[] {
  const roots = readRoots([html]);
  const names = ['unsubscribe_url', 'oneclick_unsubscribe_url', 'notification_center_url'];
  if (names.some((name) => roots.has(name))) return [];
  const message =
    'a marketing mail needs a link to {{ unsubscribe_url }} or {{ notification_center_url }}';
  return [{ code: 'no_unsubscribe_link', line: 0, tag: 'html', message }];
}
