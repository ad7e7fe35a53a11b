import { Code, ConnectError } from '@connectrpc/connect';
import { ReportVerdict } from '#gen/postrider/messages/v1/reports_pb.ts';
import type { EmailProvider } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { retryLater } from '#lib/errors/errors.ts';
import type { Context, Methods } from '../context.ts';
import { callsOf, type ReportAccount } from '../reports/account.ts';
import { type ReportPlace, registrationOf } from '../reports/keys.ts';
import { UnreadableBody, WrongSignature } from '../reports/report.ts';

export function recordReports(context: Context): Methods['recordReports'] {
  const { store, keyring, quotas, reportRate, intake, callOutside, now } = context;
  return async ({ workspaceId, integrationId, provider: source, key, body, headers }) => {
    const place = { workspaceId, integrationId };
    const at = now();
    const registration = await registrationOf(store, keyring, { place, key, now: at });
    const provider = registration && (await providerOf(context, place));
    const reader = context.providers.find(({ kind }) => kind === provider?.kind);
    if (!registration || provider?.kind !== source || !reader?.reports) {
      return { verdict: ReportVerdict.REFUSED };
    }
    const limitedAs = `${workspaceId} ${integrationId}`;
    if (reportRate.isEmpty(limitedAs)) {
      throw retryLater('too many reports', Code.ResourceExhausted, retryMs);
    }
    // Before the body is parsed, which costs most, whatever it holds.
    const ofRequest = 1 + Math.floor(body.length / 1_024);
    for (let each = 0; each < ofRequest; each += 1) reportRate.take(limitedAs);
    const { learned } = registration;
    const call = callsOf(callOutside, workspaceId);
    const account: ReportAccount = { ...place, provider, learned, call };
    const readReports = reader.reports;
    const verdict = await verdictOf(async () => {
      const reports = [...(await readReports({ body, headers, now: at }, account))];
      if (reports.length === 0) return;
      quotas.requireRoom(workspaceId, 'inbound_reports');
      for (let each = ofRequest; each < reports.length; each += 1) reportRate.take(limitedAs);
      const { types } = registration;
      await intake.keep({ place, source, receivedAt: at, types, reports });
      quotas.grew(workspaceId, 'inbound_reports', reports.length);
    });
    return { verdict };
  };
}

const retryMs = 30_000;

/** Undefined for an integration that is gone. */
async function providerOf(
  { plans }: Context,
  { workspaceId, integrationId }: ReportPlace,
): Promise<EmailProvider | undefined> {
  try {
    return await plans.providerOf(workspaceId, integrationId);
  } catch (error) {
    if (ConnectError.from(error).code === Code.NotFound) return undefined;
    throw error;
  }
}

/** Of a request whose reports are read and kept by some work. */
async function verdictOf(work: () => Promise<void>): Promise<ReportVerdict> {
  try {
    await work();
    return ReportVerdict.RECORDED;
  } catch (error) {
    if (error instanceof WrongSignature) return ReportVerdict.REFUSED;
    if (error instanceof UnreadableBody) return ReportVerdict.UNREADABLE;
    throw error;
  }
}
