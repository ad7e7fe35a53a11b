import { createHmac } from 'node:crypto';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { clientNetwork } from '#lib/client-network.ts';
import { equalInConstantTime } from '#lib/keys/keyring.ts';
import {
  countAttempt,
  forgetAttempts,
  type Limit,
  type RateLimitState,
  setRateLimitHeaders,
} from '#lib/postgres/attempts.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';
import { retryLater } from '#lib/rpc/errors.ts';
import { clientAddressOf } from '#lib/rpc/server/access.ts';
import type { Context, Methods } from '../context.ts';
import { Session, User } from '../user.ts';

const clockSkewSecondsMax = 60;
const windowMs = 5 * 60_000;
/** Failed attempts for an address. */
const failuresMax = 5;
/** Failed attempts of a client over all addresses. */
const failuresOfClientMax = 50;
/** Right signatures for an address: only their owner can use them up. */
const successesMax = 60;
/** A signature works once while its timestamp is valid. */
const onceMs = 2 * clockSkewSecondsMax * 1_000 + 1_000;
const sessionSeconds = 24 * 60 * 60;
const addressLengthMax = 254;

export function signInRoot(context: Context): Methods['signInRoot'] {
  return async (request, call) => {
    const email = request.email.trim().toLowerCase();
    if (email.length > addressLengthMax) throw invalidCredentials();
    const isRight = isGenuine(context, { ...request, email });
    const limits = isRight ? successLimits(email) : failureLimits(email, clientAddressOf(call));
    const room = await countAttempt(context.store, limits, context.now());
    setRateLimitHeaders(call.responseHeader, room);
    if (room.isExhausted) throw tooManyAttempts(room);
    if (!isRight || !(await isFirstUse(context, email, request.timestamp))) {
      throw invalidCredentials();
    }
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

/** Makes every check in any case, so that the duration reveals nothing. */
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

const failuresKey = (email: string) => `sign-in ${email}`;

/** Counted apart from successes, so that failures of others do not lock the owner of an address out. */
function failureLimits(email: string, client: string): Limit[] {
  const ofEmail = { key: failuresKey(email), attemptsMax: failuresMax, windowMs };
  const key = `sign-in client ${clientNetwork(client)}`;
  return [ofEmail, { key, attemptsMax: failuresOfClientMax, windowMs }];
}

function successLimits(email: string): Limit[] {
  return [{ key: `sign-in success ${email}`, attemptsMax: successesMax, windowMs }];
}

async function isFirstUse({ store, now }: Context, email: string, timestamp: bigint) {
  const once = { key: `sign-in once ${email} ${timestamp}`, attemptsMax: 1, windowMs: onceMs };
  return !(await countAttempt(store, [once], now())).isExhausted;
}

function tooManyAttempts({ resetMs }: RateLimitState): ConnectError {
  const text = 'too many sign-in attempts, please try again later';
  return retryLater(text, Code.ResourceExhausted, resetMs);
}

async function openSession(
  { store, now }: Context,
  email: string,
): Promise<{ user: User; session: Session }> {
  const at = now();
  return store.fork().transactional(async (em) => {
    await forgetAttempts(em, failuresKey(email));
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
