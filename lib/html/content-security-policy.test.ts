import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { contentSecurityPolicy } from './content-security-policy.ts';
import { stylesheet } from './stylesheet.ts';

test('a policy forbids everything that is not allowed', () => {
  expect(contentSecurityPolicy({})).toBe(
    "default-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  );
});

test('a policy allows the stylesheet of a page, and no other style', () => {
  const style = stylesheet('p { color: var(--quiet); }');
  const hash = createHash('sha256').update(style.text).digest('base64');
  expect(contentSecurityPolicy({ style, forms: "'self'" })).toBe(
    `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  );
});

test('a policy names each source that it allows', () => {
  const allowed = contentSecurityPolicy({
    scripts: "'self'",
    style: "'unsafe-inline'",
    images: ['http:', 'https:', 'data:'],
    fonts: ["'self'"],
    requests: "'self'",
    frames: "'self'",
    framedBy: "'self'",
    sandbox: ['allow-popups'],
  });
  expect(allowed.split('; ')).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'unsafe-inline'",
    'img-src http: https: data:',
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
    'sandbox allow-popups',
  ]);
});
