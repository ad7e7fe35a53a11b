import { createHmac } from 'node:crypto';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, type ServiceImpl } from '@connectrpc/connect';
import type { UserService } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { countAttempt, forgetAttempts, type Room, tellRoom } from '#lib/attempts.ts';
import { retryLater } from '#lib/rpc/errors.ts';
import { type EntityManager, query } from '#lib/store.ts';
import { equalInConstantTime } from '#lib/tokens.ts';
import type { Context } from '../context.ts';
import { Session, User } from '../user.ts';

const clockSkewSecondsMax = 60;
const attemptsMax = 5;
const attemptWindowMs = 5 * 60_000;
const sessionSeconds = 24 * 60 * 60;
const addressLengthMax = 254;

export function rootSignin(context: Context): ServiceImpl<typeof UserService>['signInRoot'] {
  return async (request, call) => {
    const email = request.email.trim().toLowerCase();
    if (email.length > addressLengthMax) throw invalidCredentials();
    const room = await countSignIn(context, email);
    tellRoom(call.responseHeader, room);
    if (room.isExhausted) throw tooManyAttempts(room);
    if (!isGenuine(context, { ...request, email })) throw invalidCredentials();
    const { user, session } = await openSession(context, email);
    const token = await context.keyring.signToken(
      { type: 'user', subject: user.id, sessionId: session.id },
      sessionSeconds,
    );
    return {
      token,
      user: {
        id: user.id,
        type: user.type,
        email: user.email,
        name: user.name,
        language: user.language,
        createdAt: timestampFromDate(user.created_at),
        updatedAt: timestampFromDate(user.updated_at),
      },
      expiresAt: timestampFromDate(session.expires_at),
    };
  };
}

function invalidCredentials(): ConnectError {
  return new ConnectError('Invalid credentials', Code.Unauthenticated);
}

/** Every check is made whatever the others found, so that the duration tells nothing. */
function isGenuine(
  { keyring, rootEmails, now }: Context,
  { email, timestamp, signature }: { email: string; timestamp: bigint; signature: string },
): boolean {
  const isRoot = rootEmails.filter((root) => equalInConstantTime(root, email)).length > 0;
  const skewSeconds = Math.abs(Math.floor(now().getTime() / 1000) - Number(timestamp));
  const isSigned =
    keyring.secrets.filter((secret) => {
      const text = `${email}:${timestamp}`;
      return equalInConstantTime(
        createHmac('sha256', secret).update(text).digest('hex'),
        signature,
      );
    }).length > 0;
  return isRoot && isSigned && skewSeconds <= clockSkewSecondsMax;
}

const attemptsKey = (email: string) => `sign-in ${email}`;

function countSignIn({ store, now }: Context, email: string): Promise<Room> {
  const limit = { key: attemptsKey(email), attemptsMax, windowMs: attemptWindowMs };
  return countAttempt(store, [limit], now());
}

function tooManyAttempts({ resetMs }: Room): ConnectError {
  const text = 'too many sign-in attempts, please try again later';
  return retryLater(text, Code.ResourceExhausted, resetMs);
}

async function openSession(
  { store, now }: Context,
  email: string,
): Promise<{ user: User; session: Session }> {
  const at = now();
  return store.fork().transactional(async (em) => {
    await forgetAttempts(em, attemptsKey(email));
    const user = await findOrCreateRoot(em, email, at);
    await query(em, 'delete from sessions where user_id = $1 and expires_at < $2', [user.id, at]);
    const session = em.create(Session, {
      id: crypto.randomUUID(),
      user_id: user.id,
      expires_at: new Date(at.getTime() + sessionSeconds * 1000),
    });
    return { user, session };
  });
}

async function findOrCreateRoot(em: EntityManager, email: string, at: Date): Promise<User> {
  await query(
    em,
    `insert into users (id, type, email, name, created_at, updated_at)
     values ($1, 'user', $2, 'Root User', $3, $3)
     on conflict (email) where type = 'user' do nothing`,
    [crypto.randomUUID(), email, at],
  );
  return em.findOneOrFail(User, { email, type: 'user' });
}
