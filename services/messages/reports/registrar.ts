import type { EmailProvider } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { EgressAnswer } from '#lib/outside/egress.ts';
import type { ProviderCall, ReportAccount } from './account.ts';
import { listIn, textIn } from './event.ts';
import { oneLine } from './one-line.ts';
import { diagnosticLength, type ReportType } from './report.ts';
import type { ReportUrl } from './url.ts';

/*
 * Sets providers up to report. Every step may be repeated: it looks at what is there, changes what
 * is ours, and leaves all else as it is.
 */

/** The URL that a provider is to call, and for which reports. */
export type ReportTarget = ReportUrl & {
  key: string;
  types: readonly ReportType[];
  /** Stores what the provider has answered, for verifying reports and for later calls. */
  learn(learned: Record<string, string>): Promise<void>;
};

export type Registrar = {
  /** Throws INVALID_ARGUMENT for settings with which it cannot report. */
  require?(provider: EmailProvider): void;
  /** Throws `SetUpFailed` for whatever the provider refuses. */
  setUp(account: ReportAccount, target: ReportTarget): Promise<void>;
  remove(account: ReportAccount, url: ReportUrl): Promise<void>;
};

/** A provider that keeps webhooks of an account in a list. */
type WebhookList = {
  list(account: ReportAccount): Promise<{ id: string; url: string }[]>;
  /** Changes the webhook with the id, or makes one without. */
  put(account: ReportAccount, target: ReportTarget, id: string | undefined): Promise<void>;
  remove(account: ReportAccount, id: string): Promise<unknown>;
};

/** Keeps one webhook of an integration in the list, and leaves those of others alone. */
export function registrarOf({ list, put, remove }: WebhookList): Registrar {
  const oursIn = async (account: ReportAccount, { isOurs }: ReportUrl) =>
    (await list(account)).filter(({ url }) => isOurs(url)).map(({ id }) => id);
  const removeEach = async (account: ReportAccount, ids: readonly string[]) => {
    for (const id of ids) await remove(account, id);
  };
  return {
    async setUp(account, target) {
      const [id, ...others] = await oursIn(account, target);
      await put(account, target, id);
      await removeEach(account, others);
    },
    remove: async (account, url) => removeEach(account, await oursIn(account, url)),
  };
}

/** Its message is for owners of the workspace. */
export class SetUpFailed extends Error {}

/** Gives the answer of a call. Throws `SetUpFailed` for a status that is no success. */
export async function ask(
  account: ReportAccount,
  call: ProviderCall,
  { unless = [] }: { unless?: readonly number[] } = {},
): Promise<EgressAnswer> {
  const answer = await account.call(call);
  const { status, body } = answer;
  if ((status >= 200 && status < 300) || unless.includes(status)) return answer;
  throw new SetUpFailed(oneLine(`${status} ${wordsIn(body.toString())}`, diagnosticLength));
}

/** The sentence in an answer, which is JSON, or XML of AWS; the whole of any other. */
function wordsIn(text: string): string {
  const ofAws = /<Message>([^<]+)<\/Message>/.exec(text)?.[1];
  if (ofAws) return ofAws;
  const json = jsonIn(text);
  const [first] = listIn(json, 'errors');
  const named = ['message', 'Message', 'ErrorMessage', 'error'].flatMap((name) => [
    textIn(json, name),
    textIn(first, name),
  ]);
  return named.find((each) => each !== '') ?? text;
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type JsonCall = Omit<ProviderCall, 'body'> & { json?: unknown };

/** The same in JSON; undefined for an answer that is none, and for a status in `unless`. */
export async function askJson(
  account: ReportAccount,
  { json, headers, ...call }: JsonCall,
  options: { unless?: readonly number[] } = {},
): Promise<unknown> {
  const { status, body } = await ask(
    account,
    {
      ...call,
      headers: {
        ...headers,
        accept: 'application/json',
        ...(json !== undefined && { 'content-type': 'application/json' }),
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    },
    options,
  );
  if (options.unless?.includes(status)) return undefined;
  return jsonIn(body.toString());
}

type ApiCall = Pick<JsonCall, 'method' | 'json'> & {
  /** Behind the base of the API. */
  path: string;
  /** Statuses that are no failure, and have no answer. */
  unless?: readonly number[];
};

/** Makes calls in JSON to an API, whose base and credentials follow from the settings. */
export function jsonApi(
  of: (provider: EmailProvider) => { base: string; headers: Record<string, string> },
): (account: ReportAccount, call: ApiCall) => Promise<unknown> {
  return (account, { path, unless = [], ...call }) => {
    const { base, headers } = of(account.provider);
    return askJson(account, { ...call, url: `${base}${path}`, headers }, { unless });
  };
}

/** The credentials of basic authentication. */
export const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
