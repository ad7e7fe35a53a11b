import { createHash } from 'node:crypto';
import type { Stylesheet } from './stylesheet.ts';

type Source = "'self'" | 'data:' | 'http:' | 'https:';

/** Permissions of a page's content. All else is forbidden. */
export type Allowed = {
  /** Scripts of the page's origin. */
  scripts?: "'self'";
  /** Texts of inline scripts that the page has; no other one runs. */
  inlineScripts?: readonly string[];
  /** The page's own stylesheet; any style only where scripts or mails bring theirs. */
  style?: Stylesheet | "'unsafe-inline'";
  /** Stylesheets of the page's origin, beside its own. */
  sheets?: "'self'";
  images?: readonly Source[];
  fonts?: readonly Source[];
  /** Where scripts may send requests. */
  requests?: "'self'";
  frames?: "'self'";
  /** Where forms may be sent. */
  forms?: "'self'";
  /** Origins whose pages may show this one in a frame. */
  framedBy?: "'self'";
  /** Has the page run as one of a foreign origin, with nothing but these. */
  sandbox?: readonly ('allow-popups' | 'allow-popups-to-escape-sandbox')[];
};

/** The Content-Security-Policy of a page. */
export function contentSecurityPolicy(allowed: Allowed): string {
  const { style, sheets, images, fonts, requests, frames, sandbox } = allowed;
  const inline = (allowed.inlineScripts ?? []).map(hashSource);
  const scripts = [allowed.scripts, ...inline].filter((source) => source !== undefined);
  const styles = [typeof style === 'object' ? style.source : style, sheets].filter(
    (source) => source !== undefined,
  );
  const directives: [name: string, sources: readonly string[] | string | undefined][] = [
    ['default-src', "'none'"],
    ['script-src', scripts.length > 0 ? scripts : undefined],
    ['style-src', styles.length > 0 ? styles : undefined],
    ['img-src', images],
    ['font-src', fonts],
    ['connect-src', requests],
    ['frame-src', frames],
    ['form-action', allowed.forms ?? "'none'"],
    ['base-uri', "'none'"],
    ['frame-ancestors', allowed.framedBy ?? "'none'"],
    ['sandbox', sandbox],
  ];
  return directives
    .filter(([, sources]) => sources !== undefined)
    .map(([name, sources = '']) => `${name} ${[sources].flat().join(' ')}`)
    .join('; ');
}

/** The source that allows exactly this text. */
function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
