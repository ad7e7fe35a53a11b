import type { Claims } from '#lib/keys/keyring.ts';
import { bearerToken, invalidToken, missingToken } from '#lib/rpc/bearer.ts';
import { Refusal } from '../http/refusal.ts';

export type VerifyToken = (token: string, client: string) => Promise<Claims | undefined>;

export type PresentedToken = { authorization: string | undefined; clientAddress: string };

/** The user or key of a caller. Throws where the header has no valid token of either. */
export async function requireToken(
  verifyToken: VerifyToken,
  { authorization, clientAddress }: PresentedToken,
): Promise<string> {
  const { token, fault } = bearerToken(authorization);
  if (token === undefined) throw unauthenticated(fault);
  const claims = await verifyToken(token, clientAddress);
  // Services never call each other through the gateway, so a service's token here is stolen.
  if (!claims || claims.type === 'service') throw unauthenticated(invalidToken);
  return claims.subject;
}

function unauthenticated(text: string): Refusal {
  const reason = text === missingToken ? 'TOKEN_MISSING' : 'TOKEN_INVALID';
  const refused = new Refusal(401, 'unauthenticated', text, { 'www-authenticate': 'Bearer' });
  refused.failure.reason = reason;
  return refused;
}
