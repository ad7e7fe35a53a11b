import type { ReportAccount } from '../../reports/account.ts';
import { listIn, textIn } from '../../reports/event.ts';
import { askJson, registrarOf } from '../../reports/registrar.ts';
import type { ReportType } from '../../reports/report.ts';

/*
 * Webhooks of Brevo for transactional mail (developers.brevo.com/reference/createwebhook). The key
 * is a bearer token, so that it is in no URL.
 */

const api = 'https://api.brevo.com/v3/webhooks';

export const brevoRegistrar = registrarOf({
  async list(account) {
    const url = `${api}?type=transactional`;
    // An account without webhooks is answered with 404.
    const all = await call(account, { method: 'GET', url, unless: [404] });
    return listIn(all, 'webhooks').map((each) => ({
      ...{ id: textIn(each, 'id'), url: textIn(each, 'url') },
    }));
  },
  async put(account, { url, key, types }, id) {
    const json = {
      ...{ url, description: 'Postrider', events: types.flatMap((type) => ofType[type]) },
      ...{ auth: { type: 'bearer', token: key }, batched: true },
    };
    await (id
      ? call(account, { method: 'PUT', url: `${api}/${id}`, json })
      : call(account, { method: 'POST', url: api, json: { ...json, type: 'transactional' } }));
  },
  remove: (account, id) => call(account, { method: 'DELETE', url: `${api}/${id}`, unless: [404] }),
});

const ofType: Readonly<Record<ReportType, readonly string[]>> = {
  delivered: ['delivered'],
  bounce: ['hardBounce', 'softBounce', 'blocked', 'invalid'],
  complaint: ['spam'],
};

type Call = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  url: string;
  json?: unknown;
  unless?: readonly number[];
};

function call(account: ReportAccount, { unless = [], ...given }: Call) {
  const headers = { 'api-key': account.provider.brevo?.apiKey ?? '' };
  return askJson(account, { ...given, headers }, { unless });
}
