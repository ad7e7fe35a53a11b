import { beforeAll, expect, test } from '@jest/globals';
import PostalMime from 'postal-mime';
import { good, unique } from '../stack/given.ts';
import { ownerToken } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';

/** People over HTTP, with the mails that they get. */

let owner: string;
const stack = borrowedStack();
beforeAll(async () => {
  owner = await ownerToken(stack.settings);
}, 60_000);

/** The text of the newest mail to an address that has a match, as soon as it is there. */
async function mailed(email: string, pattern: RegExp): Promise<string> {
  let found: string | undefined;
  await until('the mail is there', async () => {
    for (const raw of await stack.sink.bodies(email)) {
      const { text = '' } = await PostalMime.parse(raw);
      found = pattern.exec(text)?.[0] ?? found;
    }
    return found !== undefined;
  });
  return found ?? '';
}

test('an invited person signs in by code, joins, works, is removed, and signs out', async () => {
  const email = `${unique('ann')}@example.com`;
  const workspace_id = unique('w').replace(/[^a-zA-Z0-9]/g, '');
  const asOwner = { token: owner };
  good(await stack.call('workspaces.create', { id: workspace_id, name: 'Acme' }, asOwner));
  good(await stack.call('workspaces.inviteMember', { workspace_id, email }, asOwner));
  const token = await mailed(email, new RegExp(`${workspace_id}\\.[\\w-]{43}`));
  good(await stack.call('user.signIn', { email }, { token: '' }));
  const code = await mailed(email, /\b\d{6}\b/);
  const session = good(await stack.call('user.verifyCode', { email, code }, { token: '' }));
  const asAnn = { token: session.token };
  const again = await stack.call('user.verifyCode', { email, code }, { token: '' });
  expect(again).toMatchObject({ status: 401, body: { error: 'Invalid or expired code' } });
  good(await stack.call('workspaces.acceptInvitation', { token }, asAnn));
  const me = good(await stack.call('user.me', undefined, asAnn));
  expect(me).toMatchObject({ user: { email, type: 'user' }, workspaces: [{ id: workspace_id }] });
  const count = () =>
    stack.call('contacts.count', undefined, { ...asAnn, query: { workspace_id } });
  await until('the member may read contacts', async () => (await count()).status === 200);
  const removed = { workspace_id, user_id: me.user.id };
  good(await stack.call('workspaces.removeMember', removed, asOwner));
  await until('the member is refused', async () => (await count()).status === 403, {
    withinMs: 10_000,
  });
  good(await stack.call('user.logout', {}, asAnn));
  await until('the session is refused', async () => (await count()).status === 401, {
    withinMs: 10_000,
  });
}, 60_000);

test('asking for a code of an unknown address is answered alike, and mails nothing', async () => {
  const [known, unknown] = [stack.settings.ROOT_EMAIL ?? '', `${unique('no')}@example.com`];
  const answers = await Promise.all(
    [known, unknown].map((email) => stack.call('user.signIn', { email }, { token: '' })),
  );
  const [first, second] = answers.map(({ status, body }) => ({ status, body }));
  expect(second).toEqual(first);
  await mailed(known, /\b\d{6}\b/);
  expect(await stack.sink.bodies(unknown)).toEqual([]);
});
