import { hash } from 'node:crypto';
import { Code, type ConnectError } from '@connectrpc/connect';
import { retryLater } from '#lib/errors/errors.ts';
import type { ReturnPathMail } from '#lib/keys/return-path.ts';
import { query } from '#lib/postgres/query.ts';
import type { EntityManager } from '#lib/postgres/store.ts';

/** In rows of reports by mail, in place of a kind of provider. */
export const returnedMailSource = 'mail';
/**
 * Reports of one message by mail; once there are as many, further mails are not stored. The
 * recipient knows the return path, and may send to it for ever.
 */
const reportsOfMessageMax = 20;

/** While settings differ, as during an update, nothing may be refused for good. */
export const noReturnPaths = (): ConnectError =>
  retryLater('this process has no BOUNCE_DOMAIN', Code.Unavailable, 30_000);

export const mailDigest = (mail: Uint8Array): string => hash('sha256', mail, 'base64url');

/** The key of a mail's report, by the place of the report in it. */
export const mailReportKey = (messageId: string, digest: string, place: number): string =>
  `mail ${messageId} ${digest} ${place}`;

export type ReturnedMessage = { email: string; integrationId: string };

/** The message that came back; undefined once it is deleted. */
export const readMessageOf = messageBy('');
/** The same, locked: two mails about one message are stored one after the other. */
export const lockMessageOf = messageBy('for no key update');

function messageBy(lock: string) {
  return async (
    em: EntityManager,
    { workspaceId, messageId }: ReturnPathMail,
  ): Promise<ReturnedMessage | undefined> => {
    const [row] = await query<{ contact_email: string; integration_id: string | null }>(
      em,
      `select contact_email, integration_id from messages where workspace_id = $1 and id = $2 ${lock}`,
      [workspaceId, messageId],
    );
    return row && { email: row.contact_email, integrationId: row.integration_id ?? '' };
  };
}

/** Whether a mail is new, and one more of its message is kept. */
export async function mayStoreMail(
  em: EntityManager,
  { workspaceId, messageId }: ReturnPathMail,
  digest: string,
): Promise<boolean> {
  const [row] = await query<{ count: number; is_known: boolean }>(
    em,
    `select count(*)::int as count, coalesce(bool_or(event_key = $4), false) as is_known
     from inbound_reports where workspace_id = $1 and message_id = $2 and source = $3`,
    [workspaceId, messageId, returnedMailSource, mailReportKey(messageId, digest, 0)],
  );
  return row !== undefined && row.count < reportsOfMessageMax && !row.is_known;
}
