import type { ReportAccount } from '../../reports/account.ts';
import { listIn, textIn } from '../../reports/event.ts';
import { jsonApi, registrarOf, SetUpFailed } from '../../reports/registrar.ts';
import type { ReportType } from '../../reports/report.ts';

/*
 * An account of SendGrid has several event webhooks (twilio.com/docs/sendgrid, "Webhooks"). Ours is
 * enabled after the key that verifies it is stored, so that no event comes before.
 */

const call = jsonApi(({ sendgrid }) => {
  const host = sendgrid?.region === 'eu' ? 'api.eu.sendgrid.com' : 'api.sendgrid.com';
  return {
    base: `https://${host}/v3/user/webhooks/event/settings`,
    headers: { authorization: `Bearer ${sendgrid?.apiKey ?? ''}` },
  };
});

export const sendgridRegistrar = registrarOf({
  async list(account) {
    const all = await call(account, { method: 'GET', path: '/all' });
    return listIn(all, 'webhooks').map((each) => ({
      ...{ id: textIn(each, 'id'), url: textIn(each, 'url') },
    }));
  },
  async put(account, { withKey, key, types, learn }, found) {
    const settings = { ...eventsOf(types), url: withKey(key), friendly_name: 'Postrider' };
    const id = found ?? (await create(account, { ...settings, enabled: false }));
    const path = `/signed/${id}`;
    const signed = await call(account, { method: 'PATCH', path, json: { enabled: true } });
    const publicKey = textIn(signed, 'public_key');
    if (publicKey === '') throw new SetUpFailed('SendGrid has answered no key of the webhook');
    await learn({ public_key: publicKey });
    const json = { ...settings, enabled: true };
    await call(account, { method: 'PATCH', path: `/${id}`, json });
  },
  remove: (account, id) => call(account, { method: 'DELETE', path: `/${id}`, unless: [404] }),
});

async function create(account: ReportAccount, json: object): Promise<string> {
  const id = textIn(await call(account, { method: 'POST', path: '', json }), 'id');
  if (id === '') throw new SetUpFailed('SendGrid has answered no id of the webhook');
  return id;
}

function eventsOf(types: readonly ReportType[]) {
  const [isBounce, isComplaint, isOff] = [
    types.includes('bounce'),
    types.includes('complaint'),
    false,
  ];
  return {
    ...{ delivered: types.includes('delivered'), bounce: isBounce, dropped: isBounce },
    ...{ spam_report: isComplaint, unsubscribe: isComplaint, group_unsubscribe: isComplaint },
    ...{ processed: isOff, deferred: isOff, open: isOff, click: isOff, group_resubscribe: isOff },
  };
}
