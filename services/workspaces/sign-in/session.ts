import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { Keyring } from '#lib/keys/keyring.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { Session, sessionSeconds, User } from '../user.ts';
import { userMessage } from '../views/user.ts';

export type SignedIn = { user: User; session: Session };

type Person = { email: string; name: string; language?: string };

/** Opens a session of the person with an address, who is created if need be. */
export async function openSession(
  em: EntityManager,
  { email, name, language = 'en' }: Person,
  at: Date,
): Promise<SignedIn> {
  await query(
    em,
    `insert into users (id, type, email, name, language, created_at, updated_at)
     values ($1, 'user', $2, $3, $4, $5, $5)
     on conflict (email) where type = 'user' do nothing`,
    [crypto.randomUUID(), email, name, language, at],
  );
  const user = await em.findOneOrFail(User, { email, type: 'user' });
  await query(em, 'delete from sessions where user_id = $1 and expires_at < $2', [user.id, at]);
  const session = em.create(Session, {
    id: crypto.randomUUID(),
    user_id: user.id,
    expires_at: new Date(at.getTime() + sessionSeconds * 1000),
  });
  return { user, session };
}

/** The answer of a sign-in. */
export async function signedInMessage(keyring: Keyring, { user, session }: SignedIn) {
  const claims = { type: 'user', subject: user.id, sessionId: session.id } as const;
  return {
    token: await keyring.signToken(claims, sessionSeconds),
    user: userMessage(user),
    expiresAt: timestampFromDate(session.expires_at),
  };
}
