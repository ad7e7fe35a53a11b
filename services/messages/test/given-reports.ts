import { create } from '@bufbuild/protobuf';
import type { ReportVerdict } from '#gen/postrider/messages/v1/reports_pb.ts';
import { EmailProviderSchema } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { type EventBatch, eventsOf } from '#lib/events/outbox.ts';
import { query } from '#lib/postgres/query.ts';
import { broadcastMessageId } from '../message.ts';
import type { ReportAccount } from '../reports/account.ts';
import { applyReports } from '../tasks/apply-reports.ts';
import { storeReports } from '../tasks/store-reports.ts';
import { suppressReturned } from '../tasks/suppress-returned.ts';
import { unsubscribeLeavers } from '../tasks/unsubscribe-leavers.ts';
import { batchOf, type Given } from './given.ts';

type Process = Pick<Given, 'context' | 'inbound'>;

export const smtpPlace = { workspaceId: 'w1', integrationId: 'smtp-1' };

/** The key of the integration, which is registered anew. */
export async function givenKey(
  { reports }: Pick<Given, 'reports'>,
  place = smtpPlace,
): Promise<string> {
  await reports.unregisterReports(place).catch(() => {});
  const { status } = await reports.registerReports(place);
  return keyIn(status?.endpoints[0]?.url);
}

export const keyIn = (url = ''): string => new URL(url).searchParams.get('key') ?? '';

/** Mails of a new broadcast to each address, and their ids. */
export async function givenSent(given: Pick<Given, 'sender'>, emails: string[]) {
  const batch = batchOf(emails);
  await given.sender.sendBatch(batch);
  const { workspaceId, broadcastId } = batch;
  const ids = emails.map((email) => broadcastMessageId(workspaceId, broadcastId, email));
  return { batch, broadcastId, ids };
}

/** Reports about one mail, as a mail server's log has them. */
export function reportsAbout(id: string, email: string) {
  const about = { message_id: id, recipient: email };
  return {
    delivered: { event: 'delivered', ...about },
    hard: { event: 'bounce', bounce_category: 'hard', ...about },
    soft: { event: 'bounce', bounce_category: 'soft', ...about },
    complaint: { event: 'complaint', complaint_type: 'abuse', ...about },
  };
}

/** Posts reports as the gateway does, and applies them. */
export async function report(
  process: Process,
  key: string,
  events: unknown,
  place = smtpPlace,
): Promise<ReportVerdict> {
  const body = Buffer.from(JSON.stringify(events));
  const { verdict } = await process.inbound.recordReports({
    ...place,
    provider: 'smtp',
    key,
    body,
  });
  await applyAll(process.context);
  return verdict;
}

/** Stores the reports of all requests that wait. */
export function storeAll(context: Process['context']): Promise<void> {
  const waiting = 'from inbound_requests where failed_at is null';
  return repeatTask(context, storeReports(context), waiting);
}

/** Stores all reports, and applies what is due in all workspaces, with the jobs that follow. */
export async function applyAll(context: Process['context']): Promise<void> {
  await storeAll(context);
  await repeatTask(context, applyReports(context), 'from inbound_reports where due_at <= now()');
  const tasks = {
    suppressReturned: suppressReturned(context),
    unsubscribeLeavers: unsubscribeLeavers(context),
  };
  for (const [name, task] of Object.entries(tasks)) {
    const jobs = await query<{ payload: unknown }>(
      context.store.fork(),
      `delete from messages_jobs._private_jobs j using messages_jobs._private_tasks t
       where t.id = j.task_id and t.identifier = $1 returning payload`,
      [name],
    );
    for (const { payload } of jobs) await task(payload);
  }
}

/** Does a task for each workspace with rows, until there are none. */
async function repeatTask(
  { store }: Process['context'],
  task: (payload: unknown) => Promise<void>,
  rows: string,
): Promise<void> {
  for (;;) {
    const found = await query<{ workspace_id: string }>(
      store.fork(),
      `select distinct workspace_id ${rows}`,
      [],
    );
    if (found.length === 0) return;
    for (const { workspace_id: workspaceId } of found) await task({ workspaceId });
  }
}

/** An account of a provider, whose calls reach nobody unless given. */
export function reportAccount(over: Partial<ReportAccount>): ReportAccount {
  return {
    ...smtpPlace,
    provider: create(EmailProviderSchema),
    learned: {},
    call: async ({ url }) => {
      throw new Error(`nobody may be called, such as ${url}`);
    },
    ...over,
  };
}

/** The events of messages that wait for webhooks, the newest last, which are forgotten. */
export async function takeEvents({ store }: Process['context']) {
  const rows = await query<{ payload: EventBatch }>(
    store.fork(),
    `delete from messages_jobs._private_jobs where payload ->> 'consumer' = 'webhooks' returning payload`,
    [],
  );
  return rows
    .flatMap(({ payload }) => eventsOf(payload))
    .map(({ type, dataJson }) => ({ type, data: JSON.parse(dataJson) }));
}
