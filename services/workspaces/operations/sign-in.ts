import { canonicalAddress } from '#lib/address.ts';
import { invalidField } from '#lib/errors/errors.ts';
import { addJob } from '#lib/jobs/jobs.ts';
import type { Context, Methods } from '../context.ts';
import { codeJobPlace, codeMinutes } from '../sign-in/code.ts';
import { admitAttempt, clientLimit, codeLimits, networkOf } from '../sign-in/limits.ts';
import { workspaceSecrets } from '../workspace.ts';

/** A job looks the address up, so that the answer takes as long for an unknown one. */
export function signIn(context: Context): Methods['signIn'] {
  return async ({ email: given, language }, call) => {
    const { store, keyring, now } = context;
    const email = canonicalAddress(given);
    if (!email) throw invalidField('email', 'email is not a valid address');
    await admitAttempt(context, call, [
      ...codeLimits(email, call),
      clientLimit('sign-in code', call),
    ]);
    const asked = JSON.stringify({ email, language, network: networkOf(call) });
    await addJob(store.fork(), 'workspaces', {
      task: 'sendSignInCode',
      payload: {
        sealed: keyring.seal(workspaceSecrets, asked, codeJobPlace),
        dropAt: now().getTime() + codeMinutes * 60_000,
      },
    });
    return { message: 'If the address is known, a code is on its way to it.' };
  };
}
