import { expect, test } from '@jest/globals';
import PostalMime from 'postal-mime';
import { givenTemplate, good, mailsTo, unique } from '../stack/given.ts';
import { ownerToken } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';
import { shapeOf } from './shape.ts';

const stack = borrowedStack();

async function givenNotification(): Promise<string> {
  const id = unique('receipt').slice(0, 32);
  const template_id = await givenTemplate(stack);
  const notification = { id, name: 'Receipt', channels: { email: { template_id } } };
  const created = await stack.call('transactional.create', {
    workspace_id: stack.workspaceId,
    notification,
  });
  expect([created.status, created.body.error]).toEqual([201, undefined]);
  return id;
}

const send = (notification: object, options = {}) =>
  stack.call('transactional.send', { workspace_id: stack.workspaceId, notification }, options);

async function mailTo(email: string) {
  await until('the mail arrives', async () => mailsTo(stack, [email]).length > 0);
  const [body = ''] = await stack.sink.bodies(email);
  return PostalMime.parse(body);
}

test('transactional.send creates the contact, answers {message_id, success}, and the mail is in the history', async () => {
  const id = await givenNotification();
  const email = `${unique('ann')}@example.com`;
  const external_id = unique('order');
  const answer = await send({
    id,
    contact: { email, first_name: 'Ann' },
    channels: ['email'],
    external_id,
    data: { order: '1042' },
    metadata: { source: 'shop' },
    email_options: {
      subject: 'Order {{ order }} for {{ contact.first_name }}',
      reply_to: 'help@example.com',
      cc: [`boss-${email}`],
      attachments: [
        {
          filename: 'a.txt',
          content: 'aGVsbG8=',
          content_type: 'text/plain',
          disposition: 'attachment',
        },
      ],
    },
  });
  expect(answer).toMatchObject({ status: 200, body: { success: true } });
  expect(shapeOf(answer.body)).toEqual({
    message_id: 'string',
    success: 'boolean',
    suppressed: [],
  });
  const mail = await mailTo(email);
  expect(mail).toMatchObject({
    subject: 'Order 1042 for Ann',
    replyTo: [{ address: 'help@example.com' }],
    cc: [{ address: `boss-${email}` }],
    attachments: [{ filename: 'a.txt', mimeType: 'text/plain' }],
  });
  const query = { workspace_id: stack.workspaceId, id: answer.body.message_id };
  await until('it is recorded', async () => {
    const { messages } = good(await stack.call('messages.list', undefined, { query }));
    return messages[0]?.status === 'sent';
  });
  const { messages } = good(await stack.call('messages.list', undefined, { query }));
  expect(messages).toMatchObject([
    {
      external_id,
      contact_email: email,
      transactional_notification_id: id,
      template_version: 1,
      message_data: { data: { order: '1042' }, metadata: { source: 'shop' } },
      channel_options: { cc: [`boss-${email}`], reply_to: 'help@example.com' },
      attachments: [{ filename: 'a.txt', content_type: 'text/plain', size_bytes: 5 }],
    },
  ]);
  const { contact } = good(
    await stack.call('contacts.getByEmail', undefined, {
      query: { workspace_id: stack.workspaceId, email },
    }),
  );
  expect(contact.first_name).toBe('Ann');
  expect(await send({ id, contact: { email }, channels: ['email'], external_id })).toEqual(
    expect.objectContaining({ status: 200, body: answer.body }),
  );
  expect(mailsTo(stack, [email])).toHaveLength(1);
}, 60_000);

test('transactional.send takes a mail as it is, and the history says that it has content of its own', async () => {
  const email = `${unique('raw')}@example.com`;
  const html = '<p>Hi {{ name }}</p>';
  const content = { subject: 'Order {{ n }}', html, text: 'Hi', headers: { 'X-Order': '7' } };
  good(await send({ contact: { email }, content }));
  expect((await mailTo(email)).html?.trimEnd()).toBe(html);
  const query = { workspace_id: stack.workspaceId, contact_email: email };
  const { messages } = good(await stack.call('messages.list', undefined, { query }));
  expect(messages).toMatchObject([
    {
      ...{ template_id: '', template_version: 0, status: expect.stringMatching(/^sen/) },
      raw_content: { subject: 'Order {{ n }}', headers: { 'X-Order': '7' }, use_liquid: false },
    },
  ]);
  expect(messages[0]).not.toHaveProperty('transactional_notification_id');
  const wrong = await send({
    contact: { email },
    content: { ...content, from: { email: 'x@y.z' } },
  });
  expect(wrong).toMatchObject({
    status: 400,
    body: { details: [{ field: 'notification.content.from.email' }] },
  });
}, 60_000);

test('a key without contacts:write creates a contact by transactional.send, and changes none', async () => {
  const id = await givenNotification();
  const permissions = { transactional: { read: true, write: true } };
  const email_prefix = unique('sender');
  const key = { workspace_id: stack.workspaceId, email_prefix, permissions };
  const asOwner = { token: await ownerToken(stack.settings) };
  const { token } = good(await stack.call('workspaces.createAPIKey', key, asOwner));
  const email = `${unique('bob')}@example.com`;
  const sendAs = (first_name: string) =>
    send({ id, contact: { email, first_name }, channels: ['email'] }, { token });
  for (const name of ['Bob', 'Mallory']) expect((await sendAs(name)).status).toBe(200);
  const { contact } = good(
    await stack.call('contacts.getByEmail', undefined, {
      query: { workspace_id: stack.workspaceId, email },
    }),
  );
  expect(contact.first_name).toBe('Bob');
}, 60_000);

test('transactional.send refuses what it cannot send with a 4xx that names the field', async () => {
  const id = await givenNotification();
  const contact = { email: 'ann@example.com' };
  const unknown = await send({ id: 'nothing', contact });
  expect(unknown).toMatchObject({ status: 404, body: { error: 'Notification not found' } });
  const wrong = await send({ id, contact, email_options: { cc: ['nobody'] } });
  expect(wrong).toMatchObject({
    status: 400,
    body: {
      error: "cc 'nobody' must be a valid email address",
      details: [{ field: 'notification.email_options.cc[0]' }],
    },
  });
  const content = Buffer.alloc(3_000_000).toString('base64');
  const attachments = Array.from({ length: 4 }, (_, n) => ({ filename: `${n}.bin`, content }));
  const large = await send({ id, contact, email_options: { attachments } });
  expect(large.status).toBe(400);
  expect(large.body.error).toMatch(/^invalid attachments: total attachment size/);
}, 60_000);

test('transactional.sendBatch answers each row, one that is not even JSON of the right kind included', async () => {
  const id = await givenNotification();
  const email = `${unique('carl')}@example.com`;
  const notifications = [
    { id, contact: { email }, channels: ['email'] },
    { id, contact: { email: 7 } },
    { id: 'nothing', contact: { email } },
  ];
  const { status, body } = await stack.call('transactional.sendBatch', {
    workspace_id: stack.workspaceId,
    notifications,
  });
  expect(status).toBe(200);
  expect(body.results).toMatchObject([
    { success: true },
    { success: false, error: expect.stringContaining('email') },
    { success: false, error: 'Notification not found' },
  ]);
  await mailTo(email);
}, 60_000);

test('a template is not deleted while a notification uses it, and the notification is named', async () => {
  const id = await givenNotification();
  const key = { workspace_id: stack.workspaceId };
  const query = { ...key, id };
  const { notification } = good(await stack.call('transactional.get', undefined, { query }));
  const template = { ...key, id: notification.channels.email.template_id };
  expect(await stack.call('templates.delete', template)).toMatchObject({
    status: 400,
    body: { error: "template is used by notification 'Receipt'" },
  });
  good(await stack.call('transactional.delete', { ...key, id }));
  await until('the template is free', async () => {
    const { status } = await stack.call('templates.delete', template);
    return status === 200;
  });
}, 60_000);
