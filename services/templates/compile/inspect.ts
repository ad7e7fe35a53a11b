import { webVersionName } from '#lib/liquid/variables.ts';
import type { Issue } from './content-error.ts';
import { mjmlTags, tagEnd } from './tags.ts';
import type { ParsedPart } from './unknown-variables.ts';
import { readRoots } from './unknown-variables.ts';

/** Gmail shows this much of a mail's HTML. */
const shownMaxBytes = 102 * 1024;
const issuesMax = 50;

/** A tag is read this far. */
const tagMax = 4_000;

/** Images in MJML that say nothing to who can't see them. An empty `alt` is a choice. */
export function imagesWithoutAlt(mjml: string): Issue[] {
  if (hasDefaultAlt(mjml)) return [];
  const issues: Issue[] = [];
  let line = 1;
  let at = 0;
  for (const found of mjml.matchAll(/<(mj-image|mj-carousel-image|img)(?=[\s/>])/g)) {
    const [, tag = ''] = found;
    if (/\salt\s*=/.test(tagAt(mjml, found.index, tag))) continue;
    line += mjml.slice(at, found.index).split('\n').length - 1;
    at = found.index;
    const message =
      'the image has no alt text; say what it shows, or set alt="" if it only decorates';
    issues.push({ code: 'image_without_alt', line, tag, message });
    if (issues.length >= issuesMax) break;
  }
  return issues;
}

/** Whether the head gives images an alt text. */
function hasDefaultAlt(mjml: string): boolean {
  const start = mjml.indexOf('<mj-attributes');
  const end = mjml.indexOf('</mj-attributes', start);
  if (start < 0 || end < 0) return false;
  return [...mjmlTags(mjml.slice(start, end))].some(
    ({ name, attributes }) => /^mj-(image|all|class)$/.test(name) && /\salt\s*=/.test(attributes),
  );
}

function tagAt(mjml: string, start: number, tag: string): string {
  const text = mjml.slice(start, start + tagMax);
  try {
    return text.slice(0, tagEnd(text, tag.length + 1, tag));
  } catch {
    return text;
  }
}

export function clipped(sizeBytes: number): Issue[] {
  if (sizeBytes <= shownMaxBytes) return [];
  const message = `the HTML has ${Math.ceil(sizeBytes / 1024)} KiB; Gmail shows the first 102 KiB and hides the rest`;
  return [{ code: 'clipped', line: 0, tag: 'html', message }];
}

/** The address of the web version is empty where a workspace keeps no contents. */
export function withoutWebVersion(parts: readonly ParsedPart[]): Issue[] {
  if (!readRoots(parts).has(webVersionName)) return [];
  const message = `{{ ${webVersionName} }} is empty: the workspace keeps no contents of mails (settings.message_content_days)`;
  return [{ code: 'no_web_version', line: 0, tag: 'html', message }];
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
