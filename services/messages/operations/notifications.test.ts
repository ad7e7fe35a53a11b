import { type MessageInitShape, create as message } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { expect, test } from '@jest/globals';
import { BadRequestSchema } from '#gen/google/rpc/error_details_pb.ts';
import { IntegrationUseService } from '#gen/postrider/events/v1/events_pb.ts';
import { TransactionalService } from '#gen/postrider/messages/v1/transactional_pb.ts';
import {
  type BatchGetTemplatesRequestSchema,
  BatchGetTemplatesResponseSchema,
  TemplateChannel,
} from '#gen/postrider/templates/v1/templates_pb.ts';
import { pushTemplateUses } from '#lib/jobs/template-uses.ts';
import { query } from '#lib/postgres/query.ts';
import {
  keyringOf,
  serviceClaims,
  testTransport,
  userClaims,
} from '../../../test/setup/service.ts';
import { notificationUses } from '../notifications/template-uses.ts';
import { messagesRoutes } from '../service.ts';
import { resetAfterEach, useService } from '../test/given.ts';

const given = useService();
resetAfterEach(given);
const workspaceOf = () => crypto.randomUUID();

/** All exist. */
const templates = {
  batchGetTemplates: async ({
    keys = [],
  }: MessageInitShape<typeof BatchGetTemplatesRequestSchema>) =>
    message(BatchGetTemplatesResponseSchema, {
      found: keys.map(({ id }) => ({ key: { id }, template: { id } })),
    }),
};

const receipt = { id: 'receipt', name: 'Receipt', channels: { email: { templateId: 'receipt' } } };
const create = (workspaceId: string, over: object = {}) =>
  given.transactional.createNotification({ workspaceId, notification: { ...receipt, ...over } });

test('a notification is created, read, listed and deleted, and its id is free again', async () => {
  const workspaceId = workspaceOf();
  const channels = { email: { templateId: 'receipt', settings: { any: 1 } } };
  const trackingSettings = { enableTracking: false, utmSource: 'shop' };
  const over = { channels, trackingSettings, metadata: { team: 'a' }, integrationId: 'smtp-2' };
  const { notification: created } = await create(workspaceId, over);
  expect(created).toMatchObject({ ...receipt, ...over, description: '' });
  const key = { workspaceId, id: 'receipt' };
  expect((await given.transactional.getNotification(key)).notification).toEqual(created);
  expect(await given.transactional.listNotifications({ workspaceId })).toMatchObject({
    notifications: [{ id: 'receipt' }],
    total: 1,
  });
  await expect(create(workspaceId)).rejects.toMatchObject({
    code: Code.AlreadyExists,
    rawMessage: 'Notification id already exists',
  });
  expect(await given.transactional.deleteNotification(key)).toMatchObject({ success: true });
  for (const gone of [
    given.transactional.getNotification(key),
    given.transactional.deleteNotification(key),
    given.transactional.updateNotification({ ...key, updates: { name: 'x' } }),
  ]) {
    await expect(gone).rejects.toMatchObject({
      code: Code.NotFound,
      rawMessage: 'Notification not found',
    });
  }
  await create(workspaceId);
});

test('tracking settings are always there, and leave tracking open unless it is set', async () => {
  const { notification } = await create(workspaceOf());
  expect(notification?.trackingSettings).toMatchObject({ utmSource: '', utmContent: '' });
  expect(notification?.trackingSettings?.enableTracking).toBeUndefined();
});

test.each<[object, string, string]>([
  [{ id: '' }, 'notification.id', 'notification.id is required'],
  [
    { id: 'a b' },
    'notification.id',
    'notification.id must be 1 to 32 letters, digits, underscores and hyphens',
  ],
  [
    { id: 'a'.repeat(33) },
    'notification.id',
    'notification.id must be 1 to 32 letters, digits, underscores and hyphens',
  ],
  [{ name: '' }, 'notification.name', 'notification.name is required'],
  [
    { name: '😀'.repeat(256) },
    'notification.name',
    'notification.name must have at most 255 characters',
  ],
  [
    { description: 'a'.repeat(1001) },
    'notification.description',
    'notification.description must have at most 1000 characters',
  ],
  [{ channels: {} }, 'notification.channels', 'notification must have at least one channel'],
  [{ channels: { sms: { templateId: 't' } } }, 'notification.channels', 'invalid channel: sms'],
  [
    { channels: { email: {} } },
    'notification.channels.email.template_id',
    'notification.channels.email.template_id is required',
  ],
  [
    { channels: { email: { templateId: 'gone' } } },
    'notification.channels.email.template_id',
    'invalid template for channel email: template not found',
  ],
  [
    { metadata: { text: 'a'.repeat(16_384) } },
    'notification.metadata',
    'notification.metadata must have at most 16 KiB',
  ],
  [
    { trackingSettings: { utmTerm: 'a'.repeat(256) } },
    'notification.tracking_settings.utm_term',
    'notification.tracking_settings.utm_term: must be at most 255 characters',
  ],
])(
  'create refuses what is wrong, names the field and says why: %#',
  async (over, field, rawMessage) => {
    given.world.missingTemplates.add('gone');
    const error: unknown = await create(workspaceOf(), over).catch((reason: unknown) => reason);
    const failure = ConnectError.from(error);
    expect(failure).toMatchObject({ code: Code.InvalidArgument, rawMessage });
    const [{ fieldViolations } = { fieldViolations: [] }] = failure.findDetails(BadRequestSchema);
    expect(fieldViolations.map((violation) => violation.field)).toEqual([field]);
  },
);

test('a template of another channel is refused', async () => {
  given.world.content = { ...given.world.content, channel: TemplateChannel.WEB };
  await expect(create(workspaceOf())).rejects.toMatchObject({
    rawMessage: 'invalid template for channel email: the template is not for email',
  });
});

test('a name with a NUL is refused', async () => {
  for (const over of [{ name: 'a\0b' }, { metadata: { a: '\0' } }]) {
    await expect(create(workspaceOf(), over)).rejects.toMatchObject({ code: Code.InvalidArgument });
  }
});

test('update changes what is given and keeps the rest', async () => {
  const workspaceId = workspaceOf();
  const over = { description: 'd', metadata: { a: 1 }, trackingSettings: { utmSource: 's' } };
  await create(workspaceId, over);
  const update = async (updates: object) =>
    (await given.transactional.updateNotification({ workspaceId, id: 'receipt', updates }))
      .notification;
  expect(await update({ name: 'New' })).toMatchObject({ ...receipt, ...over, name: 'New' });
  expect(await update({ description: '', sendToBounced: true })).toMatchObject({
    ...{ name: 'New', description: '', metadata: { a: 1 }, sendToBounced: true },
    channels: receipt.channels,
  });
  const changed = await update({ channels: { email: { templateId: 't2' } }, metadata: {} });
  expect(changed).toMatchObject({
    channels: { email: { templateId: 't2' } },
    metadata: {},
    sendToBounced: true,
    trackingSettings: { utmSource: 's' },
  });
  const tracked = await update({ trackingSettings: { enableTracking: true } });
  expect(tracked?.trackingSettings).toMatchObject({ enableTracking: true, utmSource: '' });
});

test.each<[object | undefined, string]>([
  [{}, 'at least one field must be updated'],
  [{ name: 'a'.repeat(256) }, 'updates.name must have at most 255 characters'],
  [
    { channels: { email: { templateId: 'gone' } } },
    'invalid template for channel email: template not found',
  ],
])('update refuses what is wrong, and changes nothing: %#', async (updates, rawMessage) => {
  given.world.missingTemplates.add('gone');
  const workspaceId = workspaceOf();
  const { notification } = await create(workspaceId);
  const key = { workspaceId, id: 'receipt' };
  const failure = given.transactional.updateNotification({ ...key, updates });
  await expect(failure).rejects.toMatchObject({ code: Code.InvalidArgument, rawMessage });
  expect((await given.transactional.getNotification(key)).notification).toEqual(notification);
});

test('list searches ids and names in any case, without wildcards', async () => {
  const workspaceId = workspaceOf();
  for (const [id, name] of [
    ['order_1', 'Order shipped'],
    ['order-2', 'Goods back'],
    ['x', '100% ORDERED \\o/'],
  ]) {
    await create(workspaceId, { id, name });
  }
  const found = async (filter: object) => {
    const answer = await given.transactional.listNotifications({ workspaceId, ...filter });
    return [answer.total, ...answer.notifications.map(({ id }) => id)];
  };
  expect(await found({})).toEqual([3, 'x', 'order-2', 'order_1']);
  expect(await found({ search: 'ORDER' })).toEqual([3, 'x', 'order-2', 'order_1']);
  expect(await found({ search: '_' })).toEqual([1, 'order_1']);
  expect(await found({ search: '%' })).toEqual([1, 'x']);
  expect(await found({ search: '\\' })).toEqual([1, 'x']);
  expect(await found({ search: "'" })).toEqual([0]);
  expect(await found({ limit: 1, offset: 1 })).toEqual([3, 'order-2']);
  expect(await found({ limit: 1_000 })).toEqual([3, 'x', 'order-2', 'order_1']);
  await expect(found({ limit: 1_001 })).rejects.toThrow('limit must be between 1 and 1000');
  const foreign = await given.transactional.listNotifications({ workspaceId: workspaceOf() });
  expect(foreign).toMatchObject({ notifications: [], total: 0 });
});

test('a workspace has at most 1,000 notifications, however many are created at once', async () => {
  const workspaceId = workspaceOf();
  await query(
    given.store.fork(),
    `insert into notifications (workspace_id, id, name, description, channels, tracking_settings, integration_id,
       send_to_bounced, created_at, updated_at)
     select $1, 'n' || number, 'n', '', '{}', '{}', '', false, now(), now() from generate_series(1, 998) number`,
    [workspaceId],
  );
  const all = await Promise.allSettled(
    ['a', 'b', 'c', 'd'].map((id) => create(workspaceId, { id })),
  );
  expect(all.filter(({ status }) => status === 'fulfilled').length).toBe(2);
  await expect(create(workspaceId, { id: 'e' })).rejects.toMatchObject({
    code: Code.ResourceExhausted,
    rawMessage: expect.stringContaining('has 1,000 of at most 1,000 notifications'),
  });
});

test('a repeat with the same Idempotency-Key gets the first answer', async () => {
  const transport = testTransport(messagesRoutes(given.context));
  const client = createClient(
    TransactionalService,
    transport(userClaims(), { 'idempotency-key': crypto.randomUUID() }),
  );
  const request = { workspaceId: workspaceOf(), notification: receipt };
  const [first, second] = await Promise.all([
    client.createNotification(request),
    client.createNotification(request),
  ]);
  expect(second).toEqual(first);
});

test('a notification that is the welcome of lists is not deleted', async () => {
  const workspaceId = workspaceOf();
  await create(workspaceId);
  const key = { workspaceId, id: 'receipt' };
  given.world.welcomingLists = ['Readers', 'Writers'];
  await expect(given.transactional.deleteNotification(key)).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage: "the notification is the welcome of list 'Readers' and 1 more",
  });
  given.world.welcomingLists = [];
  await given.transactional.deleteNotification(key);
});

test('says which notifications do not exist', async () => {
  const workspaceId = workspaceOf();
  await create(workspaceId);
  const asked = { workspaceId, ids: ['nothing', 'receipt', 'none'] };
  expect((await given.notifications.listMissingNotifications(asked)).ids).toEqual([
    'nothing',
    'none',
  ]);
});

test('the template of a notification is in use until the answer says that another takes its place', async () => {
  const workspaceId = workspaceOf();
  const { templateUses } = given.world;
  const used = () => templateUses.get(`notification ${workspaceId} receipt`);
  const task = pushTemplateUses({ ...given.context, templates, usesOf: notificationUses });
  const payload = { kind: 'notification', workspaceId, id: 'receipt' };
  await create(workspaceId);
  expect(used()).toEqual(['receipt']);
  const key = { workspaceId, id: 'receipt' };
  const channels = { email: { templateId: 't2' } };
  await given.transactional.updateNotification({ ...key, updates: { channels } });
  expect(used()).toEqual(['t2']);
  await task(payload);
  expect(used()).toEqual(['t2']);
  await given.transactional.deleteNotification(key);
  expect(used()).toEqual([]);
  await task(payload);
  expect(used()).toEqual([]);
  const jobs = await query(
    given.store.fork(),
    "select 1 from messages_jobs.jobs where task_identifier = 'pushTemplateUses' and key like $1",
    [`%${workspaceId}%`],
  );
  expect(jobs.length).toBe(1);
});

async function usesClient() {
  const claims = { ...serviceClaims, subject: 'workspaces' };
  const authorization = `Bearer ${await keyringOf('workspaces').signToken(claims, 60)}`;
  const transport = testTransport(messagesRoutes(given.context));
  return createClient(IntegrationUseService, transport(undefined, { authorization }));
}

test('notifications need a provider, also without mail in the queue', async () => {
  const workspaceId = workspaceOf();
  await create(workspaceId);
  const client = await usesClient();
  const asked = { workspaceId, integrationId: 'smtp-1' };
  expect(await client.listIntegrationUses(asked)).toMatchObject({ uses: [], count: 0 });
  expect(await client.listIntegrationUses({ ...asked, withUnbound: true })).toMatchObject({
    uses: [{ kind: 'notification', name: 'Receipt' }],
    count: 1,
  });
});

test('a notification uses the integration that it names, and not that of the settings', async () => {
  const workspaceId = workspaceOf();
  const notification = { ...receipt, integrationId: 'smtp-2' };
  await given.transactional.createNotification({ workspaceId, notification });
  const uses = await usesClient();
  expect(await uses.listIntegrationUses({ workspaceId, integrationId: 'smtp-2' })).toMatchObject({
    uses: [{ kind: 'notification', name: 'Receipt' }],
  });
  const other = { workspaceId, integrationId: 'smtp-1', withUnbound: true };
  expect(await uses.listIntegrationUses(other)).toMatchObject({ uses: [], count: 0 });
});

test('a notification that names an integration that is not there is refused, and an update without one leaves it', async () => {
  const workspaceId = workspaceOf();
  const key = { workspaceId, id: receipt.id };
  const gone = { ...receipt, integrationId: 'deleted' };
  await expect(
    given.transactional.createNotification({ workspaceId, notification: gone }),
  ).rejects.toMatchObject({ code: Code.InvalidArgument, rawMessage: 'integration not found' });
  const own = { ...receipt, integrationId: 'smtp-2' };
  await given.transactional.createNotification({ workspaceId, notification: own });
  const update = async (updates: { name?: string; integrationId?: string }) =>
    (await given.transactional.updateNotification({ ...key, updates })).notification?.integrationId;
  await expect(update({ integrationId: 'deleted' })).rejects.toThrow('integration not found');
  expect(await update({ name: 'Other' })).toBe('smtp-2');
  expect(await update({ integrationId: '' })).toBe('');
});

test('a template that goes while its notification is created is refused', async () => {
  const workspaceId = workspaceOf();
  given.world.beforeUse = async () => {
    given.world.missingTemplates.add('receipt');
  };
  await expect(create(workspaceId)).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: 'invalid template for channel email: template not found',
  });
  const { total } = await given.transactional.listNotifications({ workspaceId });
  expect(total).toBe(0);
});
