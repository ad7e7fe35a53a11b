import { invalidField } from '#lib/errors/errors.ts';
import { isObject } from '#lib/json/text.ts';
import type { ReportAccount } from '../../reports/account.ts';
import { listIn, textIn } from '../../reports/event.ts';
import { ask, askJson, basic, type Registrar, SetUpFailed } from '../../reports/registrar.ts';
import type { ReportType } from '../../reports/report.ts';

/*
 * A domain of Mailgun has at most three URLs for each event, which others may use as well
 * (documentation.mailgun.com, "Webhooks"). All changes are planned before the first is made, so
 * that a domain without room stays as it is.
 */

export const mailgunRegistrar: Registrar = {
  require({ mailgun }) {
    if (mailgun?.webhookSigningKey) return;
    throw invalidField(
      'provider.mailgun.webhook_signing_key',
      'reports of Mailgun are verified with provider.mailgun.webhook_signing_key: set it first',
    );
  },
  async setUp(account, { withKey, key, types, isOurs }) {
    const url = withKey(key);
    const wanted = new Map(types.flatMap((type) => ofType[type]).map((event) => [event, url]));
    await change(account, { isOurs, wanted });
  },
  remove: (account, { isOurs }) => change(account, { isOurs, wanted: new Map() }),
};

/** A temporary failure is tried again, and is not reported. */
const ofType: Readonly<Record<ReportType, readonly string[]>> = {
  delivered: ['delivered'],
  bounce: ['permanent_fail'],
  complaint: ['complained', 'unsubscribed'],
};

const urlsMax = 3;

/** `wanted` is our URL of each event. */
type Change = { isOurs(url: unknown): boolean; wanted: ReadonlyMap<string, string> };

async function change(account: ReportAccount, { isOurs, wanted }: Change): Promise<void> {
  const api = apiOf(account);
  const answer = await askJson(account, { method: 'GET', url: api, headers: headersOf(account) });
  const plan = Object.values(ofType)
    .flat()
    .map((event) => {
      const before = urlsIn(answer, event);
      const own = wanted.get(event);
      const others = before.filter((each) => !isOurs(each));
      return { event, before, after: own === undefined ? others : [...others, own] };
    });
  const full = plan.find(({ after }) => after.length > urlsMax);
  if (full) throw new SetUpFailed(`the domain has ${urlsMax} webhooks for ${full.event} already`);
  for (const { event, before, after } of plan) {
    if (before.toSorted().join(' ') === after.toSorted().join(' ')) continue;
    await put(account, { event, isNew: before.length === 0, urls: after });
  }
}

async function put(
  account: ReportAccount,
  { event, isNew, urls }: { event: string; isNew: boolean; urls: readonly string[] },
): Promise<void> {
  const api = apiOf(account);
  const headers = headersOf(account);
  if (urls.length === 0) {
    await ask(account, { method: 'DELETE', url: `${api}/${event}`, headers }, { unless: [404] });
    return;
  }
  const fields = [...(isNew ? [['id', event]] : []), ...urls.map((url) => ['url', url])];
  await ask(account, {
    ...(isNew ? { method: 'POST', url: api } : { method: 'PUT', url: `${api}/${event}` }),
    headers: { ...headers, 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: formOf(fields),
  });
}

/** In no URL and no name of an event. */
const boundary = '--postrider--form--';

/** The API documents this form alone. */
function formOf(fields: readonly (readonly string[])[]): string {
  const parts = fields.map(
    ([name, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  return `${parts.join('')}--${boundary}--\r\n`;
}

/** One that has a single URL may have it by itself. */
function urlsIn(answer: unknown, event: string): string[] {
  const webhook = isObject(answer) && isObject(answer.webhooks) && answer.webhooks[event];
  const [one, many] = [textIn(webhook, 'url'), listIn(webhook, 'urls').map((each) => `${each}`)];
  return many.length > 0 || one === '' ? many : [one];
}

function apiOf({ provider }: ReportAccount): string {
  const { region, domain = '' } = provider.mailgun ?? {};
  const host = region === 'EU' ? 'api.eu.mailgun.net' : 'api.mailgun.net';
  return `https://${host}/v3/domains/${encodeURIComponent(domain)}/webhooks`;
}

const headersOf = ({ provider }: ReportAccount) => ({
  authorization: basic('api', provider.mailgun?.apiKey ?? ''),
});
