import type { Claims } from '#lib/keys/keyring.ts';
import { createLog } from '#lib/log.ts';
import { query } from '#lib/postgres/query.ts';
import { sendInvitation } from '../tasks/send-invitation.ts';
import { sendSignInCode } from '../tasks/send-sign-in-code.ts';
import type { Given } from './given.ts';
import { claimsOf } from './given-key.ts';

const log = createLog('test', 'silent');

type Invited = {
  permissions?: Record<string, { read: boolean; write: boolean }>;
  language?: string;
};
type Inviting = { root: Claims; workspaceId: string };

/** Runs the jobs that wait. */
export async function runJobs(given: Given): Promise<void> {
  const rows = await query<{ task: string; payload: unknown }>(
    given.context.store.fork(),
    `with done as (delete from workspaces_jobs._private_jobs returning task_id, payload)
     select identifier as task, payload from done
     join workspaces_jobs._private_tasks tasks on tasks.id = task_id`,
    [],
  );
  const tasks: Record<string, (payload: unknown) => Promise<void>> = {
    sendInvitation: sendInvitation(given.context, { log }),
    sendSignInCode: sendSignInCode(given.context, { log }),
  };
  for (const { task, payload } of rows) await tasks[task]?.(payload);
}

/** Signs a person in by code. */
export async function signedIn(given: Given, email: string): Promise<Claims> {
  await given.sessions().signIn({ email });
  await runJobs(given);
  const isCode = ({ to, key }: { to: string; key: string }) =>
    to === email && key.startsWith('sign-in');
  const code = /\b\d{6}\b/.exec(given.postbox.mails.findLast(isCode)?.text ?? '')?.[0] ?? '';
  return claimsOf((await given.sessions().verifyCode({ email, code })).token);
}

/** Invites an address and returns the token of its mail. */
export async function invited(
  given: Given,
  { root, workspaceId }: Inviting,
  request: { email: string } & Invited,
): Promise<string> {
  await given.members(root).inviteMember({ workspaceId, ...request });
  await runJobs(given);
  const mail = given.postbox.mails.findLast(
    ({ to, key }) => to === request.email && key.startsWith('invitation'),
  );
  return new RegExp(`${workspaceId}\\.[\\w-]{43}`).exec(mail?.text ?? '')?.[0] ?? '';
}

/** Has a person join a workspace. */
export async function joined(given: Given, inviting: Inviting, email: string): Promise<Claims> {
  const token = await invited(given, inviting, { email });
  const claims = await signedIn(given, email);
  await given.members(claims).acceptInvitation({ token });
  return claims;
}
