import { expect, test } from '@jest/globals';
import PostalMime from 'postal-mime';
import { givenTemplate, good, mailsTo, unique } from '../stack/given.ts';
import { givenWorkspace } from '../stack/given-workspace.ts';
import { ownerToken } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';

const stack = borrowedStack();

/** Sends a mail of the workspace, and gives the name of its sender. */
async function senderOf(workspaceId: string, notification: string, token: string) {
  const email = `${unique('ann')}@example.com`;
  const body = {
    workspace_id: workspaceId,
    notification: { id: notification, contact: { email }, channels: ['email'] },
  };
  good(await stack.call('transactional.send', body, { token }));
  await until('the mail arrives', async () => mailsTo(stack, [email]).length > 0);
  const [mail = ''] = await stack.sink.bodies(email);
  return (await PostalMime.parse(mail)).from?.name;
}

test('each mail after a change of the integration has the new sender, whichever process sends it', async () => {
  const token = await ownerToken(stack.settings);
  const { id, from } = await givenWorkspace(stack);
  const call = async (operation: string, body: object) =>
    good(await stack.call(operation, { workspace_id: id, ...body }, { token }));
  const query = { id };
  const { workspace } = good(await stack.call('workspaces.get', undefined, { query, token }));
  const [{ id: integration_id, name, email_provider }] = workspace.integrations;
  const rename = (sender: string) =>
    call('workspaces.updateIntegration', {
      integration_id,
      name,
      provider: { ...email_provider, senders: [{ email: from, name: sender, is_default: true }] },
    });
  const template_id = await givenTemplate({
    ...stack,
    workspaceId: id,
    call: (operation, body) => stack.call(operation, body, { token }),
  });
  const notification = { id: 'receipt', name: 'Receipt', channels: { email: { template_id } } };
  await call('transactional.create', { notification });
  const names = Array.from({ length: 6 }, (_, at) => `Sender ${at}`);
  const seen = [];
  for (const sender of names) {
    await rename(sender);
    seen.push([await senderOf(id, 'receipt', token), await senderOf(id, 'receipt', token)]);
  }
  expect(seen).toEqual(names.map((sender) => [sender, sender]));
}, 60_000);
