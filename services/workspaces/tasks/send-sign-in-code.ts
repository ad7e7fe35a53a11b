import type { Log } from '#lib/log.ts';
import { query } from '#lib/postgres/query.ts';
import type { Context } from '../context.ts';
import { sendLetter } from '../mail/send.ts';
import { mailLanguage, mailWords } from '../mail/words.ts';
import { codeJobPlace, codeMinutes, newCode } from '../sign-in/code.ts';
import { workspaceSecrets } from '../workspace.ts';

type Payload = { sealed: string; dropAt: number };
/** Jobs of 0.2.0 have no network. */
type SignInRequest = { email: string; language: string; network?: string };

/** Makes and mails a code, to an address that may sign in. A repeat makes a new code. */
export function sendSignInCode(context: Context, { log }: { log: Pick<Log, 'warn'> }) {
  return async (payload: unknown): Promise<void> => {
    const { store, keyring, now } = context;
    const { sealed, dropAt } = payload as Payload;
    if (now().getTime() > dropAt) return;
    const asked: SignInRequest = JSON.parse(keyring.open(workspaceSecrets, sealed, codeJobPlace));
    const { email, language, network = '' } = asked;
    const known = await findPerson(context, email, now());
    if (!known) return;
    const code = await store
      .fork()
      .transactional((em) => newCode(em, keyring, { email, network, now: now() }));
    const words = mailWords(mailLanguage([language, known.language]));
    await sendLetter(context, log, {
      kind: 'sign-in code',
      key: `sign-in/${crypto.randomUUID()}`,
      to: email,
      subject: words.codeSubject,
      text: words.code,
      values: { code, minutes: codeMinutes },
    });
  };
}

/** The language of a person who may sign in. */
async function findPerson({ store, rootEmails }: Context, email: string, at: Date) {
  const [person] = await query<{ language: string }>(
    store.fork(),
    `(select language from users where email = $1 and type = 'user')
     union all
     (select language from invitations where email = $1 and expires_at > $2)
     limit 1`,
    [email, at],
  );
  return person ?? (rootEmails.includes(email) ? { language: 'en' } : undefined);
}
