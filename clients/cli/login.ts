import { Http } from '../typescript/src/http.ts';
import { User } from '../typescript/src/made/user.ts';
import { Workspaces } from '../typescript/src/made/workspaces.ts';
import { UsageError } from './failures.ts';
import type { CommonOptions, Invocation } from './invocation.ts';
import { keepProfile, profileDefault } from './profiles.ts';
import { ask, write } from './terminal.ts';

type LoginOptions = CommonOptions & { gateway?: string; email?: string; keyStdin?: true };

/** Signs in by a code that comes by mail, or keeps an API key, in a profile. */
export async function login(invocation: Invocation, options: LoginOptions): Promise<void> {
  const { env, terminal } = invocation;
  const baseUrl =
    options.gateway ?? env.BASE_URL ?? (await ask(terminal, 'Address of the gateway: '));
  if (!/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? '')) {
    throw new UsageError(`${baseUrl} is not an address such as https://mail.example.com`);
  }
  const token = options.keyStdin
    ? await readAll(invocation)
    : await signIn(invocation, baseUrl, options.email);
  const http = new Http({ baseUrl, token });
  const workspaceId = options.workspace ?? (await onlyWorkspace(http));
  const name = options.profile ?? profileDefault;
  const file = keepProfile(env, name, {
    baseUrl,
    token,
    ...(workspaceId === undefined ? {} : { workspaceId }),
  });
  const workspace = workspaceId ? `, workspace ${workspaceId}` : '; name one by --workspace';
  await write(terminal, `Signed in at ${baseUrl}${workspace}. ${file} keeps it.\n`);
}

async function signIn({ terminal }: Invocation, baseUrl: string, given?: string): Promise<string> {
  const user = new User(new Http({ baseUrl }));
  const email = given ?? (await ask(terminal, 'Your address: '));
  await user.signIn({ email });
  const code = await ask(terminal, 'The code of the mail: ');
  const { token } = await user.verifyCode({ email, code });
  return token;
}

async function readAll({ terminal: { stdin } }: Invocation): Promise<string> {
  let text = '';
  for await (const part of stdin) text += part;
  const key = text.trim();
  if (key === '') throw new UsageError('--key-stdin: no key came');
  return key;
}

/** Most people have one. */
async function onlyWorkspace(http: Http): Promise<string | undefined> {
  const all = await new Workspaces(http).list();
  return all.length === 1 ? all[0]?.id : undefined;
}
