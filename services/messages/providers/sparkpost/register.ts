import { listIn, textIn } from '../../reports/event.ts';
import { jsonApi, registrarOf } from '../../reports/registrar.ts';
import type { ReportType } from '../../reports/report.ts';

/*
 * Webhooks of SparkPost (developers.sparkpost.com/api/webhooks). It posts a test to the URL when
 * one is made or changed, and refuses it unless it is answered 200. The key is the password of
 * basic authentication, so that it is in no URL.
 */

const call = jsonApi(({ sparkpost }) => ({
  base: `${sparkpost?.endpoint || 'https://api.sparkpost.com'}/api/v1/webhooks`,
  headers: { authorization: sparkpost?.apiKey ?? '' },
}));

export const sparkpostRegistrar = registrarOf({
  async list(account) {
    const all = await call(account, { method: 'GET', path: '' });
    return listIn(all, 'results').map((each) => ({
      ...{ id: textIn(each, 'id'), url: textIn(each, 'target') },
    }));
  },
  async put(account, { url, key, types }, id) {
    const json = {
      ...{ name: 'Postrider', target: url, events: types.flatMap((type) => ofType[type]) },
      ...{ auth_type: 'basic', auth_credentials: { username: 'postrider', password: key } },
    };
    await (id
      ? call(account, { method: 'PUT', path: `/${id}`, json })
      : call(account, { method: 'POST', path: '', json }));
  },
  remove: (account, id) => call(account, { method: 'DELETE', path: `/${id}`, unless: [404] }),
});

const ofType: Readonly<Record<ReportType, readonly string[]>> = {
  delivered: ['delivery'],
  bounce: [
    ...['bounce', 'out_of_band', 'policy_rejection'],
    ...['generation_failure', 'generation_rejection'],
  ],
  complaint: ['spam_complaint', 'list_unsubscribe', 'link_unsubscribe'],
};
