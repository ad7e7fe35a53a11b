import { beforeEach, expect, test } from '@jest/globals';
import { createReturnPaths } from '#lib/keys/return-path.ts';
import { keyring } from '../../../test/setup/service.ts';
import { until } from '../../../test/stack/until.ts';
import { broadcastMessageId } from '../message.ts';
import { batchOf, people, resetAfterEach, useService } from '../test/given.ts';
import { givenNotification, sendOf } from '../test/given-notification.ts';

const given = useService();
resetAfterEach(given);

const returnPaths = createReturnPaths(keyring, 'bounces.example.com');
let process: ReturnType<typeof given.newProcess>;
// With connections of its own: a server says what it offers once.
beforeEach(() => {
  process = given.newProcess({ returnPaths });
});
const workspaceId = 'w1';

/** Sends to each address, and gives the envelope and the id of each mail. */
async function sendTo(emails: string[], from: Pick<typeof process, 'sender'> = process) {
  const batch = batchOf(emails);
  expect(await from.sender.sendBatch(batch)).toMatchObject({ sent: emails.length });
  return emails.map((email) => ({
    id: broadcastMessageId(workspaceId, batch.broadcastId, email),
    envelope: given.sink.envelopes(email)[0],
    mail: given.sink.bodies(email)[0] ?? '',
  }));
}

test.each([true, false])(
  'each mail has a return path of its own, and its sender stays (pipelining: %p)',
  async (pipelining) => {
    given.sink.behaviour.pipelining = pipelining;
    const emails = people(5, `verp${pipelining}`);
    for (const [at, { id, envelope, mail }] of (await sendTo(emails)).entries()) {
      const returnPath = returnPaths.of({ workspaceId, messageId: id });
      expect(envelope).toEqual([`MAIL FROM:<${returnPath}>`, `RCPT TO:<${emails[at]}>`]);
      expect(mail).toMatch(/^From: .*<news@sender\.example>\r$/m);
      expect(mail).not.toContain(returnPath);
    }
  },
);

test('a server that offers DSN is asked for reports of failures and delays', async () => {
  given.sink.behaviour.dsn = true;
  const email = 'ann+dsn=1@example.com';
  const [{ id, envelope } = { id: '' }] = await sendTo([email]);
  expect(envelope).toEqual([
    `MAIL FROM:<${returnPaths.of({ workspaceId, messageId: id })}> RET=HDRS ENVID=${id}`,
    `RCPT TO:<${email}> NOTIFY=FAILURE,DELAY ORCPT=rfc822;ann+2Bdsn+3D1@example.com`,
  ]);
});

test('mails of a domain with a host of its own have their return path there, and prove their message', async () => {
  given.world.domains = [{ name: 'sender.example', returnPathHost: 'bounce.sender.example' }];
  process.context.plans.refresh('w1');
  const [{ id, envelope, mail } = { id: '', mail: '' }] = await sendTo(people(1, 'own-host'));
  const returnPath = returnPaths.of({ workspaceId, messageId: id }, 'bounce.sender.example');
  expect(envelope?.[0]).toBe(`MAIL FROM:<${returnPath}>`);
  expect(mail).toMatch(/^From: .*<news@sender\.example>\r$/m);
  expect(await process.inbound.checkReturnPath({ returnPath })).toEqual(
    expect.objectContaining({ isKnown: true }),
  );
  const forged = returnPath.replace(/^b-./, (start) => (start === 'b-a' ? 'b-b' : 'b-a'));
  expect(await process.inbound.checkReturnPath({ returnPath: forged })).toEqual(
    expect.objectContaining({ isKnown: false }),
  );
});

test.each([true, false])(
  'without a domain of return paths the envelope is as it was, also where DSN is offered (pipelining: %p)',
  async (pipelining) => {
    Object.assign(given.sink.behaviour, { dsn: true, pipelining });
    const email = `plain-${pipelining}@example.com`;
    const [{ envelope } = {}] = await sendTo([email], given.newProcess());
    expect(envelope).toEqual(['MAIL FROM:<news@sender.example>', `RCPT TO:<${email}>`]);
  },
);

test.each([true, false])(
  'copies have the envelope of their mail (pipelining: %p)',
  async (pipelining) => {
    Object.assign(given.sink.behaviour, { dsn: true, pipelining });
    const notification = await givenNotification(given);
    const [email, cc] = [`to-${pipelining}@example.com`, `cc-${pipelining}@example.com`];
    const request = sendOf(notification, { contact: { email }, emailOptions: { cc: [cc] } });
    const { messageId } = await process.transactional.sendTransactional(request);
    await until('it is sent', async () => given.sink.envelopes(cc).length === 1);
    const returnPath = returnPaths.of({ workspaceId, messageId });
    expect(given.sink.envelopes(cc)).toEqual([
      [
        `MAIL FROM:<${returnPath}> RET=HDRS ENVID=${messageId}`,
        ...[email, cc].map((to) => `RCPT TO:<${to}> NOTIFY=FAILURE,DELAY ORCPT=rfc822;${to}`),
      ],
    ]);
  },
);

test('a refused sender still ends the mails of that sender together', async () => {
  given.sink.behaviour.replies = [{ step: 'mail', reply: '550 5.1.8 sender refused' }];
  const answer = await process.sender.sendBatch(batchOf(people(40, 'refused')));
  expect(answer).toMatchObject({ sent: 0, outage: 'MAIL was refused: 550 5.1.8 sender refused' });
});
