import { canonicalAddress } from '#lib/address.ts';
import { refusal } from '#lib/errors/reasons.ts';
import { forgetAttempts } from '#lib/postgres/attempts.ts';
import { writeForMember } from '../audit/entries.ts';
import type { Context, Methods } from '../context.ts';
import { useCode } from '../sign-in/code.ts';
import { admitAttempt, clientLimit, codeLimits, networkOf } from '../sign-in/limits.ts';
import { openSession, signedInMessage } from '../sign-in/session.ts';

export function verifyCode(context: Context): Methods['verifyCode'] {
  return async ({ email: given, code }, call) => {
    const { store, keyring, now, rootEmails } = context;
    await admitAttempt(context, call, [clientLimit('sign-in verify', call)]);
    const email = canonicalAddress(given) ?? '';
    const answer = { email, code: code.trim(), network: networkOf(call) };
    if (!(await useCode(store.fork(), keyring, { answer, now: now() }))) {
      throw refusal('CODE_INVALID', 'Invalid or expired code');
    }
    const name = rootEmails.includes(email) ? 'Root User' : '';
    const signedIn = await store.fork().transactional(async (em) => {
      for (const { key } of codeLimits(email, call)) await forgetAttempts(em, key);
      const opened = await openSession(em, { email, name }, now());
      await em.flush();
      await writeForMember(em, call, opened.user.id);
      return opened;
    });
    return signedInMessage(keyring, signedIn);
  };
}
