import type { ReportAccount } from '../../reports/account.ts';
import { listIn, textIn } from '../../reports/event.ts';
import { askJson, registrarOf, SetUpFailed } from '../../reports/registrar.ts';
import type { ReportType } from '../../reports/report.ts';

/*
 * Webhooks of Resend (resend.com/docs/api-reference/webhooks). The answer that makes one has the
 * secret that signs its events.
 */

const api = 'https://api.resend.com/webhooks';

export const resendRegistrar = registrarOf({
  async list(account) {
    const all = await call(account, { method: 'GET', url: `${api}?limit=100` });
    return listIn(all, 'data').map((each) => ({
      ...{ id: textIn(each, 'id'), url: textIn(each, 'endpoint') },
    }));
  },
  async put(account, { withKey, key, types, learn }, id) {
    const json = { endpoint: withKey(key), events: types.flatMap((type) => ofType[type]) };
    const known = id
      ? await call(account, { method: 'GET', url: `${api}/${id}` })
      : await call(account, { method: 'POST', url: api, json });
    const secret = textIn(known, 'signing_secret') || account.learned.signing_secret || '';
    if (secret === '') throw new SetUpFailed('Resend has answered no secret of the webhook');
    await learn({ signing_secret: secret });
    if (!id) return;
    const changed = { ...json, status: 'enabled' };
    await call(account, { method: 'PATCH', url: `${api}/${id}`, json: changed });
  },
  remove: (account, id) => call(account, { method: 'DELETE', url: `${api}/${id}`, unless: [404] }),
});

const ofType: Readonly<Record<ReportType, readonly string[]>> = {
  delivered: ['email.delivered'],
  bounce: ['email.bounced', 'email.failed', 'email.suppressed'],
  complaint: ['email.complained'],
};

type Call = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  url: string;
  json?: unknown;
  unless?: readonly number[];
};

function call(account: ReportAccount, { unless = [], ...given }: Call) {
  const headers = { authorization: `Bearer ${account.provider.resend?.apiKey ?? ''}` };
  return askJson(account, { ...given, headers }, { unless });
}
