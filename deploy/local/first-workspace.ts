import { createHmac, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

export type Setup = {
  baseUrl: string;
  rootEmail: string;
  /** The key of the signature. */
  secretKey: string;
  smtpUrl: string;
  /** The API key of an earlier start. */
  apiKey: string | undefined;
};

export const workspaceId = 'demo';
const integrationName = 'Local inbox';
const callMsMax = 15_000;
const signInMsMax = 60_000;
/** The highest rate of the contract: the inbox needs no protection. */
const ratePerMinute = 10_000_000;

type Integration = {
  id: string;
  name: string;
  email_provider: { smtp?: { host: string; port: number } };
};
type Workspace = {
  id: string;
  name: string;
  settings: Record<string, unknown>;
  integrations: Integration[];
};
type Call = <T>(path: string, body?: object) => Promise<T>;

/** Sets up the workspace `demo` to send through `smtpUrl`, and returns an API key for it. */
export async function prepareWorkspace(setup: Setup): Promise<string> {
  const known = setup.apiKey && (await workspaceSeenBy(setup, setup.apiKey));
  if (known && setup.apiKey && sendsTo(known, setup.smtpUrl)) return setup.apiKey;
  const call = caller(setup.baseUrl, await signIn(setup));
  const workspace = await ensureWorkspace(call);
  const integrationId = await ensureIntegration(call, workspace, setup.smtpUrl);
  await chooseProvider(call, workspace, integrationId);
  if (known && setup.apiKey) return setup.apiKey;
  const { token } = await call<{ token: string }>('workspaces.createAPIKey', {
    workspace_id: workspaceId,
    email_prefix: `local-${randomBytes(4).toString('hex')}`,
  });
  return token;
}

async function workspaceSeenBy({ baseUrl }: Setup, token: string): Promise<Workspace | undefined> {
  try {
    const call = caller(baseUrl, token);
    return await getWorkspace(call);
  } catch {
    return undefined;
  }
}

/**
 * On a busy machine a process that has just started may take longer than a connection waits, and
 * its callers are answered 503.
 */
async function signIn(setup: Setup): Promise<string> {
  const giveUpAtMs = Date.now() + signInMsMax;
  for (;;) {
    try {
      return await signInOnce(setup);
    } catch (error) {
      if (Date.now() > giveUpAtMs || !/ answered 503: /.test(String(error))) throw error;
      // A signature works once, and the last one may have arrived.
      await sleep(1_500);
    }
  }
}

async function signInOnce({ baseUrl, rootEmail, secretKey }: Setup): Promise<string> {
  const email = rootEmail.split(',')[0] ?? rootEmail;
  const timestamp = Math.floor(Date.now() / 1000);
  const [key = secretKey] = secretKey.split(',');
  const signature = createHmac('sha256', key).update(`${email}:${timestamp}`).digest('hex');
  const call = caller(baseUrl);
  const answer = await call<{ token: string }>('user.rootSignin', { email, timestamp, signature });
  return answer.token;
}

async function ensureWorkspace(call: Call): Promise<Workspace> {
  const listed = await call<Workspace[]>('workspaces.list');
  if (!listed.some(({ id }) => id === workspaceId)) {
    await call('workspaces.create', {
      id: workspaceId,
      name: 'Demo',
      settings: { timezone: 'UTC', default_language: 'en', languages: ['en'] },
    });
  }
  return getWorkspace(call);
}

async function getWorkspace(call: Call): Promise<Workspace> {
  type Answer = { workspace: Workspace };
  const { workspace } = await call<Answer>(`workspaces.get?id=${workspaceId}`);
  return workspace;
}

async function ensureIntegration(
  call: Call,
  { integrations }: Workspace,
  smtpUrl: string,
): Promise<string> {
  const existing = integrations.find(({ name }) => name === integrationName);
  const provider = providerFor(smtpUrl);
  const fields = { workspace_id: workspaceId, name: integrationName, provider };
  if (existing === undefined) {
    type Answer = { integration_id: string };
    const made = await call<Answer>('workspaces.createIntegration', { ...fields, type: 'email' });
    return made.integration_id;
  }
  if (!isAt(existing, smtpUrl)) {
    await call('workspaces.updateIntegration', { ...fields, integration_id: existing.id });
  }
  return existing.id;
}

async function chooseProvider(call: Call, { settings, name }: Workspace, id: string) {
  const chosen = { marketing_email_provider_id: id, transactional_email_provider_id: id };
  const current = [settings.marketing_email_provider_id, settings.transactional_email_provider_id];
  // Settings that a person has changed since are kept.
  if (current.every((each) => each)) return;
  await call('workspaces.update', {
    id: workspaceId,
    name,
    settings: { ...settings, ...chosen },
  });
}

function sendsTo({ integrations, settings }: Workspace, smtpUrl: string): boolean {
  const ours = integrations.find(({ name }) => name === integrationName);
  return ours !== undefined && isAt(ours, smtpUrl) && !!settings.marketing_email_provider_id;
}

function isAt({ email_provider: { smtp } }: Integration, smtpUrl: string): boolean {
  const { host, port } = providerFor(smtpUrl).smtp;
  return smtp?.host === host && smtp.port === port;
}

function providerFor(smtpUrl: string) {
  const { protocol, hostname, port, username, password } = new URL(smtpUrl);
  const secure = protocol === 'smtps:';
  return {
    kind: 'smtp',
    smtp: {
      host: hostname,
      port: Number(port) || (secure ? 465 : 25),
      username: decodeURIComponent(username),
      password: decodeURIComponent(password),
      use_tls: secure,
    },
    senders: [{ email: 'hello@example.com', name: 'Postrider', is_default: true }],
    rate_limit_per_minute: ratePerMinute,
  };
}

/** Calls an operation by its path: GET without a body, POST with one. */
function caller(baseUrl: string, token?: string): Call {
  return async (path, body) => {
    const answer = await fetch(`${baseUrl}/api/${path}`, {
      method: body ? 'POST' : 'GET',
      headers: {
        'content-type': 'application/json',
        ...(token ? { authorization: `Bearer ${token}` } : {}),
      },
      body: body ? JSON.stringify(body) : undefined,
      signal: AbortSignal.timeout(callMsMax),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text.slice(0, 300)}`);
    return JSON.parse(text);
  };
}
