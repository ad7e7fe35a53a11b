import { Code } from '@connectrpc/connect';
import { retryLater } from '#lib/errors/errors.ts';
import type { Context, Methods } from '../context.ts';
import {
  lockMessageOf,
  mailDigest,
  mayStoreMail,
  noReturnPaths,
  readMessageOf,
  returnedMailSource,
} from '../reports/mail/kept.ts';
import { reportsIn } from '../reports/mail/reports.ts';
import { countReports } from '../reports/metrics.ts';
import { reportTypes } from '../reports/report.ts';
import { storeReports } from '../reports/store.ts';

export function recordReturnedMail(context: Context): Methods['recordReturnedMail'] {
  const { store, keyring, quotas, reportRate, returnPaths, now } = context;
  return async ({ returnPath, mail }) => {
    if (!returnPaths) throw noReturnPaths();
    const named = returnPaths.read(returnPath);
    const message = named && (await readMessageOf(store.fork(), named));
    if (!named || !message) return { isRecorded: false };
    const { workspaceId } = named;
    const limitedAs = `${workspaceId} ${returnedMailSource}`;
    if (reportRate.isEmpty(limitedAs)) {
      throw retryLater('too many mails came back', Code.ResourceExhausted, retryMs);
    }
    // A mail costs far more than a report in a request.
    for (let each = 0; each < costOfMail; each += 1) reportRate.take(limitedAs);
    const digest = mailDigest(mail);
    if (!(await mayStoreMail(store.fork(), named, digest))) return { isRecorded: true };
    const reports = await reportsIn(mail, { ...message, ...named, digest });
    quotas.requireRoom(workspaceId, 'inbound_reports');
    const stored = await store.fork().transactional(async (em) => {
      if (!(await lockMessageOf(em, named))) return [];
      if (!(await mayStoreMail(em, named, digest))) return [];
      const request = {
        ...{ place: { workspaceId, integrationId: message.integrationId }, receivedAt: now() },
        ...{ source: returnedMailSource, types: reportTypes, reports },
      };
      return storeReports(em, keyring, { workspaceId, requests: [request] });
    });
    quotas.grew(workspaceId, 'inbound_reports', stored.length);
    countReports(stored.filter(({ state }) => state !== 'received'));
    return { isRecorded: true };
  };
}

const retryMs = 30_000;
/** Of the rate of reports: as a request of its greatest size. */
const costOfMail = 65;
