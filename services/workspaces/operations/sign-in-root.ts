import { createHmac } from 'node:crypto';
import type { ConnectError, HandlerContext } from '@connectrpc/connect';
import { refusal } from '#lib/errors/reasons.ts';
import { equalInConstantTime } from '#lib/keys/keyring.ts';
import { countAttempt, forgetAttempts, type Limit } from '#lib/postgres/attempts.ts';
import { writeForMember } from '../audit/entries.ts';
import type { Context, Methods } from '../context.ts';
import { admitAttempt, clientLimit, windowMs } from '../sign-in/limits.ts';
import { openSession, signedInMessage } from '../sign-in/session.ts';

const clockSkewSecondsMax = 60;
/** Failed attempts for an address. */
const failuresMax = 5;
/** A signature works once while its timestamp is valid. */
const onceMs = 2 * clockSkewSecondsMax * 1_000 + 1_000;
const addressLengthMax = 254;

export function signInRoot(context: Context): Methods['signInRoot'] {
  return async (request, call) => {
    const email = request.email.trim().toLowerCase();
    if (email.length > addressLengthMax) throw invalidCredentials();
    const isRight =
      isGenuine(context, request, email) && (await isFirstUse(context, email, request.timestamp));
    const limits = isRight ? successLimits(context, email) : failureLimits(email, call);
    await admitAttempt(context, call, limits);
    if (!isRight) throw invalidCredentials();
    const signedIn = await context.store.fork().transactional(async (em) => {
      await forgetAttempts(em, failuresKey(email));
      const opened = await openSession(em, { email, name: 'Root User' }, context.now());
      await em.flush();
      await writeForMember(em, call, opened.user.id);
      return opened;
    });
    return signedInMessage(context.keyring, signedIn);
  };
}

function invalidCredentials(): ConnectError {
  return refusal('SIGN_IN_REFUSED', 'Invalid credentials');
}

/** Makes every check in any case, so that the duration reveals nothing. */
function isGenuine(
  { secretKeys, rootEmails, now }: Context,
  { email: given, timestamp, signature }: { email: string; timestamp: bigint; signature: string },
  email: string,
): boolean {
  const isRoot = rootEmails.filter((root) => equalInConstantTime(root, email)).length > 0;
  const skewSeconds = Math.abs(Math.floor(now().getTime() / 1000) - Number(timestamp));
  // The address is signed as it is sent; clients that know its stored form may sign that.
  const signatures = secretKeys.flatMap((secret) =>
    [given, email].map((address) =>
      createHmac('sha256', secret).update(`${address}:${timestamp}`).digest('hex'),
    ),
  );
  const isSigned = signatures.filter((each) => equalInConstantTime(each, signature)).length > 0;
  return isRoot && isSigned && skewSeconds <= clockSkewSecondsMax;
}

const failuresKey = (email: string) => `sign-in ${email}`;

/**
 * Counted apart from successes, so that failures of others do not lock the owner of an address out.
 */
function failureLimits(email: string, call: HandlerContext): Limit[] {
  const ofEmail = { key: failuresKey(email), attemptsMax: failuresMax, windowMs };
  return [ofEmail, clientLimit('sign-in', call)];
}

/** Right signatures, each counted once: only their owner can use them up. */
function successLimits({ rootSignInsMax: attemptsMax }: Context, email: string): Limit[] {
  return [{ key: `sign-in success ${email}`, attemptsMax, windowMs }];
}

async function isFirstUse({ store, now }: Context, email: string, timestamp: bigint) {
  const once = { key: `sign-in once ${email} ${timestamp}`, attemptsMax: 1, windowMs: onceMs };
  return !(await countAttempt(store, [once], now())).isExhausted;
}
