import { Code, ConnectError } from '@connectrpc/connect';
import { ReportVerdict } from '#gen/postrider/messages/v1/reports_pb.ts';
import { retryLater } from '#lib/errors/errors.ts';
import type { Context, Methods } from '../context.ts';
import type { MailProvider } from '../providers/provider.ts';
import { type ReportPlace, registrationOf } from '../reports/keys.ts';
import { countReports } from '../reports/metrics.ts';
import { type Report, UnreadableBody, type UnreadableReport } from '../reports/report.ts';
import { storeReports } from '../reports/store.ts';

export function recordReports(context: Context): Methods['recordReports'] {
  const { store, keyring, quotas, reportRate, now } = context;
  return async ({ workspaceId, integrationId, provider: source, key, body }) => {
    const place = { workspaceId, integrationId };
    const at = now();
    const registration = await registrationOf(store, place, { key, now: at });
    const provider = registration && (await providerOf(context, place));
    if (!registration || provider?.kind !== source || !provider.reports) {
      return { verdict: ReportVerdict.REFUSED };
    }
    const limitedAs = `${workspaceId} ${integrationId}`;
    if (reportRate.isEmpty(limitedAs)) {
      throw retryLater('too many reports', Code.ResourceExhausted, retryMs);
    }
    // Before the body is parsed, which costs most, whatever it holds.
    const ofRequest = 1 + Math.floor(body.length / 1_024);
    for (let each = 0; each < ofRequest; each += 1) reportRate.take(limitedAs);
    const reports = read(provider.reports, body);
    if (!reports) return { verdict: ReportVerdict.UNREADABLE };
    quotas.requireRoom(workspaceId, 'inbound_reports');
    for (let each = ofRequest; each < reports.length; each += 1) reportRate.take(limitedAs);
    const given = { place, source, registration, reports, now: at };
    const stored = await store.fork().transactional((em) => storeReports(em, keyring, given));
    quotas.grew(workspaceId, 'inbound_reports', stored.length);
    countReports(stored.filter(({ state }) => state !== 'received'));
    return { verdict: ReportVerdict.RECORDED };
  };
}

const retryMs = 30_000;

/** Undefined for an integration that is gone. */
async function providerOf(
  { plans, providers }: Context,
  { workspaceId, integrationId }: ReportPlace,
): Promise<MailProvider | undefined> {
  try {
    const own = await plans.kindOf(workspaceId, integrationId);
    return providers.find(({ kind }) => kind === own);
  } catch (error) {
    if (ConnectError.from(error).code === Code.NotFound) return undefined;
    throw error;
  }
}

function read(
  reports: NonNullable<MailProvider['reports']>,
  body: Uint8Array,
): (Report | UnreadableReport)[] | undefined {
  try {
    return reports(body);
  } catch (error) {
    if (error instanceof UnreadableBody) return undefined;
    throw error;
  }
}
