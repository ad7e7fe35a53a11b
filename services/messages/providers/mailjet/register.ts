import type { ReportAccount } from '../../reports/account.ts';
import { listIn, textIn } from '../../reports/event.ts';
import { basic, jsonApi, type Registrar, SetUpFailed } from '../../reports/registrar.ts';
import type { ReportType } from '../../reports/report.ts';

/*
 * An account of Mailjet has one URL for each event (dev.mailjet.com/email/reference/webhook). A URL
 * of somebody else stays: then nothing is changed. Version 2 sends events in groups.
 */

const call = jsonApi(({ mailjet }) => ({
  base: 'https://api.mailjet.com/v3/REST/eventcallbackurl',
  headers: { authorization: basic(mailjet?.apiKey ?? '', mailjet?.secretKey ?? '') },
}));

export const mailjetRegistrar: Registrar = {
  async setUp(account, { withKey, key, types, isOurs }) {
    const all = await callbacks(account);
    const wanted = types.flatMap((type) => ofType[type]);
    const taken = all.find(({ event, url }) => wanted.includes(event) && !isOurs(url));
    if (taken) throw new SetUpFailed(`the account has another URL for event ${taken.event}`);
    for (const EventType of wanted) {
      const id = all.find(({ event }) => event === EventType)?.id;
      const json = { EventType, Url: withKey(key), Version: 2, Status: 'alive' };
      await (id
        ? call(account, { method: 'PUT', path: `/${id}`, json })
        : call(account, { method: 'POST', path: '', json }));
    }
    const others = all.filter(({ event, url }) => !wanted.includes(event) && isOurs(url));
    await removeEach(account, others);
  },
  async remove(account, { isOurs }) {
    await removeEach(
      account,
      (await callbacks(account)).filter(({ url }) => isOurs(url)),
    );
  },
};

const ofType: Readonly<Record<ReportType, readonly string[]>> = {
  delivered: ['sent'],
  bounce: ['bounce', 'blocked'],
  complaint: ['spam', 'unsub'],
};

type Callback = { id: string; event: string; url: string };

async function callbacks(account: ReportAccount): Promise<Callback[]> {
  const all = await call(account, { method: 'GET', path: '?Limit=100' });
  return listIn(all, 'Data')
    .filter((each) => textIn(each, 'IsBackup') === '')
    .map((each) => ({
      ...{ id: textIn(each, 'ID'), event: textIn(each, 'EventType'), url: textIn(each, 'Url') },
    }));
}

async function removeEach(account: ReportAccount, ours: readonly Callback[]): Promise<void> {
  for (const { id } of ours) {
    await call(account, { method: 'DELETE', path: `/${id}`, unless: [404] });
  }
}
