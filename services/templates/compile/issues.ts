import { ContentError, type Issue } from './content-error.ts';

/** Enough to fix several mistakes at once. */
const shownMax = 5;

/**
 * Throws issues that would change the mail, and returns the others as warnings. Visual editors add
 * attributes that MJML ignores; in MJML that a
 * person wrote, an unknown attribute is misspelled, unless Liquid has made it of values.
 */
export function warningsOf(
  issues: readonly Issue[],
  kind: 'mjml' | 'tree',
  isRendered = false,
): Issue[] {
  const isLenient = kind === 'tree' || isRendered;
  const isWarning = ({ message }: Issue) => isLenient && message.startsWith('Attribute');
  const errors = issues.filter((issue) => !isWarning(issue));
  if (errors.length > 0) {
    const shown = errors.slice(0, shownMax).map((issue) => textOf(issue, kind));
    throw new ContentError(shown.join('; '), errors);
  }
  return [...issues];
}

function textOf({ line, tag, message }: Issue, kind: 'mjml' | 'tree'): string {
  return kind === 'mjml' ? `line ${line} (${tag}): ${message}` : `${tag}: ${message}`;
}
