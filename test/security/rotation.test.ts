import { expect, test } from '@jest/globals';
import type { Keyring } from '#lib/keys/keyring.ts';
import { linkKeys, linkSigner } from '#lib/keys/signed-link.ts';
import { createTrackingTokens } from '#lib/keys/tracking-token.ts';
import { secretPlace } from '#lib/providers/kind.ts';
import { givenEndpoint } from '../../services/webhooks/test/given-endpoint.ts';
import { leakedEnvironments } from '../stack/environment.ts';
import {
  fast,
  givenBroadcast,
  good,
  mailsTo,
  sendNow,
  setRate,
  untilFlowing,
  untilStatus,
} from '../stack/given.ts';
import { keyringIn } from '../stack/keys.ts';
import { ownerToken } from '../stack/owner.ts';
import { changeKeys, restartInTurn, rotateSecrets } from '../stack/rotate.ts';
import { borrowedStack } from '../stack/shared.ts';
import { deleteWebhook, queryStack, subscribe } from '../stack/webhooks.ts';

const stack = borrowedStack();
const rotationMsMax = 6 * 60_000;
/** Of the one process of a service that is being started again. */
const restarting = [0, 502, 503, 504];

/**
 * Calls without end, and the statuses of their answers, but for those of a service that is being
 * started again.
 */
function keepCalling(calls: (() => Promise<number>)[]) {
  const seen = new Map<number, number>();
  let isOver = false;
  const work = calls.map(async (call) => {
    while (!isOver) {
      const status = await call().catch(() => 0);
      if (!restarting.includes(status)) seen.set(status, (seen.get(status) ?? 0) + 1);
      await new Promise((done) => setTimeout(done, 20));
    }
  });
  return async () => {
    isOver = true;
    await Promise.all(work);
    return seen;
  };
}

async function givenIntegration(): Promise<{ id: string; sealed: () => Promise<string> }> {
  const { workspaceId } = stack;
  const token = await ownerToken(stack.settings);
  const smtp = { host: '127.0.0.1', port: 2525, username: 'me', password: 'smtp-pass' };
  const senders = [{ email: 'hello@example.com', name: 'Hello', is_default: true }];
  const provider = { kind: 'smtp', smtp, senders, rate_limit_per_minute: 100 };
  const body = { workspace_id: workspaceId, name: 'rotated', type: 'email', provider };
  const made = good(await stack.call('workspaces.createIntegration', body, { token }));
  const id = String(made.integration_id);
  const sealed = async () => {
    const [row] = await queryStack<{ sealed: string }>(
      stack,
      `select provider->'smtp'->>'sealed_password' as sealed from workspaces.integrations where id = $1`,
      [id],
    );
    return row?.sealed ?? '';
  };
  return { id, sealed };
}

/** A link of a mail that was sent with these keys. */
function trackedLink(keys: Keyring): string {
  const { workspaceId, settings } = stack;
  const token = createTrackingTokens(keys)(workspaceId, crypto.randomUUID(), Buffer.alloc(8));
  const url = 'https://example.com/news';
  const signed = linkSigner(linkKeys(keys)(workspaceId))({ token, number: 1, url });
  return `${settings.BASE_URL}/r/${workspaceId}/${token}/1/${signed}`;
}

test(
  'all keys are replaced while calls, a broadcast and tracked links go on, and nothing is refused',
  async () => {
    const { workspaceId, settings, call } = stack;
    const owner = await ownerToken(settings);
    const endpoint = await givenEndpoint();
    const hook = await subscribe(stack, endpoint.url, ['contact.created']);
    const integration = await givenIntegration();
    const before = {
      keys: keyringIn(stack.folder, 'messages'),
      sealed: await integration.sealed(),
    };
    const link = trackedLink(before.keys);
    const leaked = leakedEnvironments(stack);
    const { id, emails } = await givenBroadcast(stack, 300);
    await setRate(stack, 120);
    await sendNow(stack, id);
    await untilFlowing(stack, emails);
    const query = { workspace_id: workspaceId };
    const stop = keepCalling([
      async () => (await call('messages.list', undefined, { query })).status,
      async () => (await call('contacts.count', undefined, { query })).status,
      async () => (await call('user.me', undefined, { token: owner })).status,
      async () => (await fetch(link, { redirect: 'manual' })).status,
    ]);
    await changeKeys(stack, ['--add', '--links']);
    await restartInTurn(stack);
    await changeKeys(stack, ['--use']);
    await restartInTurn(stack);
    expect(await rotateSecrets(stack)).toContain('sealed anew');
    await changeKeys(stack, ['--drop']);
    await restartInTurn(stack);
    expect([...(await stop()).keys()].sort()).toEqual([200, 302]);
    await setRate(stack, fast);
    await untilStatus(stack, id, 'sent');
    expect(new Set(mailsTo(stack, emails).map(({ email }) => email)).size).toBe(emails.length);
    // Whoever had the environments of before speaks for nobody any more.
    for (const { service, keyring } of leaked) {
      const token = await keyring.signToken(
        { type: 'service', subject: service, sessionId: '' },
        60,
      );
      const [now] = leakedEnvironments(stack);
      expect(await now?.keyring.verifyToken(token)).toBeUndefined();
    }
    // Only the new keys open what is stored.
    const sealed = await integration.sealed();
    const place = secretPlace({ workspaceId, integrationId: integration.id }, 'smtp.password');
    expect(keyringIn(stack.folder, 'messages').letters.open(sealed, place)).toBe('smtp-pass');
    expect(() => before.keys.letters.open(sealed, place)).toThrow('cannot be opened');
    expect(() => keyringIn(stack.folder, 'messages').letters.open(before.sealed, place)).toThrow();
    const tried = good(
      await call('webhookSubscriptions.test', { workspace_id: workspaceId, id: hook.id }),
    );
    expect(tried).toMatchObject({ success: true });
    await deleteWebhook(stack, hook);
    await call(
      'workspaces.deleteIntegration',
      { workspace_id: workspaceId, integration_id: integration.id },
      { token: owner },
    );
  },
  rotationMsMax,
);
