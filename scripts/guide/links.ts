import { posix } from 'node:path';

/** The addresses that links of a page lead to. */
export type Targets = {
  /** The address of a page or picture of the guide by its file, with an anchor or an empty text. */
  inside(file: string, anchor: string): string | undefined;
  /** The address of any other file of the repository; undefined where none is known. */
  outside(file: string): string | undefined;
};

// Code is matched first, so that it is passed over.
const pieces =
  /^ {0,3}```[\s\S]*?^ {0,3}```|(`+)[\s\S]*?\1|(!?)\[((?:`[^`]*`|[^\]`])*)\]\(([^)\s]+)\)/gm;

/**
 * A text of the repository with the links that its place in the guide needs. A link to a file that
 * has no address becomes its text, with the path.
 */
export function relink(text: string, source: string, targets: Targets): string {
  return text.replaceAll(pieces, (all, _ticks, picture, label, target) => {
    if (target === undefined || /^([a-z]+:|#)/.test(target)) return all;
    if (target.startsWith('/')) return `${label} (\`${target}\`)`;
    const [path = '', anchor = ''] = target.split('#');
    const file = posix.normalize(posix.join(posix.dirname(source), path)).replace(/\/$/, '');
    const found = targets.inside(file, anchor) ?? targets.outside(file);
    if (found !== undefined) return `${picture}[${label}](${found})`;
    return label === `\`${file}\`` ? label : `${label} (\`${file}\`)`;
  });
}

/** The anchor that a heading gets, as GitHub makes it. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
    .replaceAll(' ', '-');
}

/** The anchors of a page. */
export function anchorsOf(text: string): Set<string> {
  const prose = text.replaceAll(/^ {0,3}```[\s\S]*?^ {0,3}```/gm, '');
  return new Set(
    [...prose.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => anchorOf(heading)),
  );
}
