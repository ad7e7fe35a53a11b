/*
 * Makes the provider of an integration report as the row in `report_keys` says, or no more.
 *
 * Reads the row, calls the provider without a transaction, and ends the revision that it has read:
 * a change meanwhile has queued a job of its own. A failure is no failure of the job, since it is
 * mostly one of a tenant's account: its words are kept for `webhooks.status`, and the job comes
 * again, ever more seldom. A row of an integration that is deleted goes.
 */

import { Code, ConnectError } from '@connectrpc/connect';
import type { EmailProvider } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import type { Context } from '../context.ts';
import { callsOf } from '../reports/account.ts';
import { forgetRegistration, type ReportPlace, settingsOf } from '../reports/keys.ts';
import { oneLine } from '../reports/one-line.ts';
import { SetUpFailed } from '../reports/registrar.ts';
import { diagnosticLength } from '../reports/report.ts';
import {
  addSetUp,
  learn,
  type OpenRegistration,
  postponeRegistration,
  readOpen,
  settleRegistration,
} from '../reports/set-up.ts';
import { reportUrl } from '../reports/url.ts';

/** Far below the two minutes after which a job counts as one of a dead process. */
const attemptMaxMs = 60_000;
const againMinMs = 2_000;
const againMaxMs = 60 * 60_000;
/** Some four days, since the account at the provider may be closed. */
const removalsMax = 100;

export function setUpReports(context: Context) {
  const { store, keyring, plans, log, now } = context;
  return async (payload: unknown): Promise<void> => {
    const { workspaceId, integrationId } = payload as ReportPlace;
    const place = { workspaceId, integrationId };
    const open = await readOpen(store.fork(), keyring, place);
    if (!open) return;
    const provider = await plans.providerOf(workspaceId, integrationId).catch((error: unknown) => {
      if (ConnectError.from(error).code === Code.NotFound) return undefined;
      throw error;
    });
    if (!provider) return forgetRegistration(store.fork(), place);
    try {
      await agree(context, { place, open, provider });
      await settleRegistration(store.fork(), place, open);
    } catch (error) {
      const { revision, attempts } = open;
      const words = wordsOf(error, open.key);
      log.info({ ...place, reason: words }, 'a provider was not set up for reports');
      if (open.state === 'removing' && open.attempts >= removalsMax) {
        return settleRegistration(store.fork(), place, open);
      }
      const againAt = new Date(now().getTime() + againInMs(attempts));
      await store.fork().transactional(async (em) => {
        const isOpen = await postponeRegistration(em, place, { revision, error: words });
        if (isOpen) await addSetUp(em, place, againAt);
      });
    }
  };
}

const againInMs = (attempts: number) => Math.min(againMinMs * 2 ** attempts, againMaxMs);

async function agree(
  { store, keyring, plans, providers, callOutside }: Context,
  given: { place: ReportPlace; open: OpenRegistration; provider: EmailProvider },
): Promise<void> {
  const { place, open, provider } = given;
  const { kind } = provider;
  const registrar = providers.find((each) => each.kind === kind)?.registrar;
  if (!registrar) return;
  const { workspaceId } = place;
  const url = reportUrl({ place, kind, baseUrl: await plans.baseUrl(workspaceId) });
  const { key, types, learned } = open;
  const call = callsOf(callOutside, workspaceId, AbortSignal.timeout(attemptMaxMs));
  const account = { ...place, provider, learned, call };
  if (open.state === 'removing') return registrar.remove(account, url);
  await registrar.setUp(account, {
    ...{ ...url, key, types },
    learn: (more) => learn(store, keyring, { place, learned: more }),
  });
  await learn(store, keyring, { place, settings: settingsOf(provider) });
}

/**
 * Words of ours, and those of the provider, without the key, of which the end may be cut off;
 * others may name hosts and addresses.
 */
function wordsOf(error: unknown, key: string): string {
  if (error instanceof SetUpFailed || error instanceof ConnectError) {
    const words = error.message.replaceAll(key, '…').replaceAll(/\bkey=[\w-]+/g, 'key=…');
    return oneLine(words, diagnosticLength);
  }
  return 'the provider cannot be reached';
}
