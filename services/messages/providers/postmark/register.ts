import type { ReportAccount } from '../../reports/account.ts';
import { listIn, textIn } from '../../reports/event.ts';
import { jsonApi, type Registrar } from '../../reports/registrar.ts';
import type { ReportType } from '../../reports/report.ts';
import type { ReportUrl } from '../../reports/url.ts';

/*
 * Each stream of a server of Postmark has webhooks of its own
 * (postmarkapp.com/developer/api/webhooks-api). The key is the password of their basic
 * authentication, so that it is in no URL.
 */

const call = jsonApi(({ postmark }) => ({
  base: 'https://api.postmarkapp.com/webhooks',
  headers: { 'x-postmark-server-token': postmark?.serverToken ?? '' },
}));

export const postmarkRegistrar: Registrar = {
  async setUp(account, target) {
    const { url, key, types } = target;
    for (const stream of streamsOf(account)) {
      const ids = await oursIn(account, target, stream);
      if (!ids) continue;
      const json = {
        ...{ Url: url, HttpAuth: { Username: 'postrider', Password: key } },
        Triggers: triggersOf(types),
      };
      const [id, ...others] = ids;
      // The password is not shown, so that it is set each time.
      await (id
        ? call(account, { method: 'PUT', path: `/${id}`, json })
        : call(account, {
            method: 'POST',
            path: '',
            json: { ...json, MessageStream: stream.name },
          }));
      await removeEach(account, others);
    }
  },
  async remove(account, url) {
    for (const stream of streamsOf(account)) {
      await removeEach(account, (await oursIn(account, url, stream)) ?? []);
    }
  },
};

/** A stream that the settings name must be there; one that a server has by default may not be. */
type Stream = { name: string; mayBeMissing: boolean };

function streamsOf({ provider }: ReportAccount): Stream[] {
  const { messageStream = '', broadcastStream = '' } = provider.postmark ?? {};
  const streams = [
    { name: messageStream || 'outbound', mayBeMissing: false },
    { name: broadcastStream || 'broadcast', mayBeMissing: broadcastStream === '' },
  ];
  return streams.filter(({ name }, place) => place === 0 || name !== streams[0]?.name);
}

/** The ids of our webhooks; undefined where there is no such stream. */
async function oursIn(
  account: ReportAccount,
  { isOurs }: ReportUrl,
  { name, mayBeMissing }: Stream,
): Promise<string[] | undefined> {
  const path = `?${new URLSearchParams({ MessageStream: name })}`;
  const unless = mayBeMissing ? [404, 422] : [];
  const answer = await call(account, { method: 'GET', path, unless });
  if (answer === undefined) return undefined;
  return listIn(answer, 'Webhooks')
    .filter((each) => isOurs(textIn(each, 'Url')))
    .map((each) => textIn(each, 'ID'));
}

async function removeEach(account: ReportAccount, ids: readonly string[]): Promise<void> {
  for (const id of ids) await call(account, { method: 'DELETE', path: `/${id}`, unless: [404] });
}

function triggersOf(types: readonly ReportType[]) {
  const off = { Enabled: false };
  return {
    Delivery: { Enabled: types.includes('delivered') },
    Bounce: { Enabled: types.includes('bounce'), IncludeContent: false },
    SpamComplaint: { Enabled: types.includes('complaint'), IncludeContent: false },
    // Somebody who leaves is a complaint of class `left`.
    SubscriptionChange: { Enabled: types.includes('complaint') },
    ...{ Open: { ...off, PostFirstOpenOnly: false }, Click: off },
  };
}
