import { listIn, textIn } from '../../reports/event.ts';
import { jsonApi, registrarOf } from '../../reports/registrar.ts';
import type { ReportType } from '../../reports/report.ts';

/*
 * Webhooks of Brevo for transactional mail (developers.brevo.com/reference/createwebhook). The key
 * is a bearer token, so that it is in no URL.
 */

const call = jsonApi(({ brevo }) => ({
  base: 'https://api.brevo.com/v3/webhooks',
  headers: { 'api-key': brevo?.apiKey ?? '' },
}));

export const brevoRegistrar = registrarOf({
  async list(account) {
    // An account without webhooks is answered with 404.
    const all = await call(account, { method: 'GET', path: '?type=transactional', unless: [404] });
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
      ? call(account, { method: 'PUT', path: `/${id}`, json })
      : call(account, { method: 'POST', path: '', json: { ...json, type: 'transactional' } }));
  },
  remove: (account, id) => call(account, { method: 'DELETE', path: `/${id}`, unless: [404] }),
});

const ofType: Readonly<Record<ReportType, readonly string[]>> = {
  delivered: ['delivered'],
  bounce: ['hardBounce', 'softBounce', 'blocked', 'invalid'],
  complaint: ['spam', 'unsubscribed'],
};
