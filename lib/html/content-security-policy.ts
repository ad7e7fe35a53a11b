import type { Stylesheet } from './stylesheet.ts';

type Source = "'self'" | 'data:' | 'http:' | 'https:';

/** Permissions of a page's content. All else is forbidden. */
export type Allowed = {
  /** Scripts of the page's origin. No inline script ever runs. */
  scripts?: "'self'";
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
  const { scripts, style, sheets, images, fonts, requests, frames, sandbox } = allowed;
  const styles = [typeof style === 'object' ? style.source : style, sheets].filter(
    (source) => source !== undefined,
  );
  const directives: [name: string, sources: readonly string[] | string | undefined][] = [
    ['default-src', "'none'"],
    ['script-src', scripts],
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
