import { Code } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import PostalMime from 'postal-mime';
import { query } from '#lib/postgres/query.ts';
import { resetAfterEach, useService } from '../test/given.ts';
import { defaultContent } from '../test/given-peers.ts';

const given = useService();
resetAfterEach(given);

const request = {
  workspaceId: 'w1',
  templateId: 'receipt',
  integrationId: 'smtp-1',
  senderId: 's2',
  recipientEmail: 'Dev@Example.com',
};

test('testTemplate sends the template with its test data, from the given sender, and creates no contact', async () => {
  given.world.testData = { order: '1042', contact: { first_name: 'Ann' } };
  given.world.content = { ...defaultContent, html: '<p>{{ order }} {{ contact.email }}</p>' };
  given.world.translations.set('fr', { html: '<p>Commande {{ order }}</p>' });
  const { transactional } = given.newProcess();
  const answer = await transactional.testTemplate({
    ...request,
    emailOptions: { subject: 'Test of {{ contact.first_name }}' },
  });
  expect(answer).toMatchObject({ success: true });
  const mail = await PostalMime.parse(given.sink.bodies('dev@example.com')[0] ?? '');
  expect(mail).toMatchObject({
    from: { address: 'infos@sender.example' },
    subject: 'Test of Ann',
  });
  expect(mail.html).toContain('1042 dev@example.com');
  expect(given.world.upserted).toEqual([]);
  await transactional.testTemplate({ ...request, language: 'fr' });
  const second = await PostalMime.parse(given.sink.bodies('dev@example.com')[1] ?? '');
  expect(second.html).toContain('Commande 1042');
  const rows = await query(given.store.fork(), 'select by_hand from messages where id = $1', [
    answer.messageId,
  ]);
  expect(rows).toEqual([{ by_hand: true }]);
});

test('testTemplate returns failures in its answer', async () => {
  given.world.testData = undefined;
  expect(await given.transactional.testTemplate(request)).toMatchObject({
    success: false,
    error: 'failed to retrieve template: template not found',
  });
  given.world.testData = {};
  given.sink.behaviour.replies = [{ step: 'rcpt', reply: '554 5.7.1 not today' }];
  expect(await given.transactional.testTemplate(request)).toMatchObject({
    success: false,
    error: 'the message was not sent: 554 5.7.1 not today',
  });
});

test('testTemplate names the field that is wrong', async () => {
  const wrong = (over: object) => given.transactional.testTemplate({ ...request, ...over });
  await expect(wrong({ recipientEmail: 'nobody' })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'invalid recipient_email format',
  });
  await expect(wrong({ senderId: '' })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'sender_id is required',
  });
});
