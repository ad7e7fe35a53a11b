import type { ReportAccount } from '../../reports/account.ts';
import { listIn, textIn } from '../../reports/event.ts';
import { askJson, basic, type Registrar, SetUpFailed } from '../../reports/registrar.ts';
import type { ReportType } from '../../reports/report.ts';

/*
 * An account of Mailjet has one URL for each event (dev.mailjet.com/email/reference/webhook). A URL
 * of somebody else stays: then nothing is changed. Version 2 sends events in groups.
 */

const api = 'https://api.mailjet.com/v3/REST/eventcallbackurl';

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
        ? call(account, { method: 'PUT', url: `${api}/${id}`, json })
        : call(account, { method: 'POST', url: api, json }));
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
  complaint: ['spam'],
};

type Callback = { id: string; event: string; url: string };

async function callbacks(account: ReportAccount): Promise<Callback[]> {
  const all = await call(account, { method: 'GET', url: `${api}?Limit=100` });
  return listIn(all, 'Data')
    .filter((each) => textIn(each, 'IsBackup') === '')
    .map((each) => ({
      ...{ id: textIn(each, 'ID'), event: textIn(each, 'EventType'), url: textIn(each, 'Url') },
    }));
}

async function removeEach(account: ReportAccount, ours: readonly Callback[]): Promise<void> {
  for (const { id } of ours) {
    await call(account, { method: 'DELETE', url: `${api}/${id}`, unless: [404] });
  }
}

type Call = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  url: string;
  json?: unknown;
  unless?: readonly number[];
};

function call(account: ReportAccount, { unless = [], ...given }: Call) {
  const { apiKey = '', secretKey = '' } = account.provider.mailjet ?? {};
  const headers = { authorization: basic(apiKey, secretKey) };
  return askJson(account, { ...given, headers }, { unless });
}
