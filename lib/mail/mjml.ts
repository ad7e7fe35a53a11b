import { createRequire } from 'node:module';
import { compactHtml } from './compact.ts';

/** A complaint of MJML about a part that it leaves out. */
export type MjmlIssue = { line: number; tagName: string; message: string };

type Mjml = (source: string, options: object) => Promise<{ html: string; errors: MjmlIssue[] }>;

/** Fonts that MJML loads from a font host where a mail names them. */
const hostedFonts = {
  'Open Sans': 'https://fonts.googleapis.com/css?family=Open+Sans:300,400,500,700',
  'Droid Sans': 'https://fonts.googleapis.com/css?family=Droid+Sans:300,400,500,700',
  Lato: 'https://fonts.googleapis.com/css?family=Lato:300,400,500,700',
  Roboto: 'https://fonts.googleapis.com/css?family=Roboto:300,400,500,700',
};
/** MJML's own default: it is loaded only where the author names it. */
const defaultFont = 'Ubuntu';
const defaultFontUrl = 'https://fonts.googleapis.com/css?family=Ubuntu:300,400,500,700';

/** Braces are text when Liquid has run. MJML's inliner of CSS takes them for code, and skips it. */
const noCode = { start: '(?!)', end: '(?!)' };

/**
 * MJML hides the preview line by `display:none`, and makes it tiny and white as well. Spam filters
 * count that as text that nobody can read (HTML_FONT_LOW_CONTRAST and FONT_INVIS_MSGID of
 * SpamAssassin), so the line keeps the size and the colour of the mail.
 */
const tinyAndWhite =
  /(<body\b[^<>]*>\s*<div style="[^"<>]*?display: ?none; ?)font-size: ?1px; ?color: ?#ffffff; ?line-height: ?1px; ?/;

type Options = {
  /** Whether MJML looks for parts that it leaves out. */
  isChecked?: boolean;
  /** Comments that stay, besides those that Outlook reads. */
  isNeeded?: (comment: string) => boolean;
};

/**
 * Compiles MJML without Liquid, or with Liquid that is hidden. Runs in threads that can be killed.
 * Throws where the MJML can't be read.
 */
export async function mjmlToHtml(
  source: string,
  { isChecked = false, isNeeded = () => false }: Options = {},
): Promise<{ html: string; issues: MjmlIssue[] }> {
  const mjml: Mjml = createRequire(import.meta.url)('mjml');
  const { html, errors } = await mjml(source, {
    validationLevel: isChecked ? 'soft' : 'skip',
    // Includes would read files of this machine.
    ignoreIncludes: true,
    juicePreserveTags: { HBS: noCode, EJS: noCode },
    // MJML adds those that a mail names, which are no other mail's.
    fonts: {
      ...hostedFonts,
      ...(source.includes(defaultFont) && { [defaultFont]: defaultFontUrl }),
    },
  });
  return { html: compactHtml(html.replace(tinyAndWhite, '$1'), isNeeded), issues: errors };
}
