import { listIn, textIn } from '../../reports/event.ts';
import { jsonApi, registrarOf, SetUpFailed } from '../../reports/registrar.ts';
import type { ReportType } from '../../reports/report.ts';

/*
 * Webhooks of Resend (resend.com/docs/api-reference/webhooks). The answer that makes one has the
 * secret that signs its events.
 */

const call = jsonApi(({ resend }) => ({
  base: 'https://api.resend.com/webhooks',
  headers: { authorization: `Bearer ${resend?.apiKey ?? ''}` },
}));

export const resendRegistrar = registrarOf({
  async list(account) {
    const all = await call(account, { method: 'GET', path: '?limit=100' });
    return listIn(all, 'data').map((each) => ({
      ...{ id: textIn(each, 'id'), url: textIn(each, 'endpoint') },
    }));
  },
  async put(account, { withKey, key, types, learn }, id) {
    const json = { endpoint: withKey(key), events: types.flatMap((type) => ofType[type]) };
    const known = id
      ? await call(account, { method: 'GET', path: `/${id}` })
      : await call(account, { method: 'POST', path: '', json });
    const secret = textIn(known, 'signing_secret') || account.learned.signing_secret || '';
    if (secret === '') throw new SetUpFailed('Resend has answered no secret of the webhook');
    await learn({ signing_secret: secret });
    if (!id) return;
    const changed = { ...json, status: 'enabled' };
    await call(account, { method: 'PATCH', path: `/${id}`, json: changed });
  },
  remove: (account, id) => call(account, { method: 'DELETE', path: `/${id}`, unless: [404] }),
});

const ofType: Readonly<Record<ReportType, readonly string[]>> = {
  delivered: ['email.delivered'],
  bounce: ['email.bounced', 'email.failed', 'email.suppressed'],
  complaint: ['email.complained'],
};
