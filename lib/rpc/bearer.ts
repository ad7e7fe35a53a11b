export const missingToken = 'Authorization header is required';
export const invalidToken = 'Invalid token';

type Bearer = { token: string; fault?: never } | { token?: never; fault: string };

/** The token of an Authorization header, not verified yet, or the error text. */
export function bearerToken(header: string | null | undefined): Bearer {
  if (header === undefined || header === null) return { fault: missingToken };
  const [, token] = /^Bearer +(\S+)$/i.exec(header) ?? [];
  return token === undefined ? { fault: 'Invalid authorization header format' } : { token };
}
