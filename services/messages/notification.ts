import type { JsonObject } from '@bufbuild/protobuf';
import type { ConnectError } from '@connectrpc/connect';
import { defineEntity, LockMode, p } from '@mikro-orm/core';
import { refusal } from '#lib/errors/reasons.ts';
import type { EntityManager } from '#lib/postgres/store.ts';

export type Channel = { template_id: string; settings?: JsonObject | undefined };

/** As the API has it; `enable_tracking` is absent where others decide. */
export type Tracking = {
  enable_tracking?: boolean | undefined;
  utm_source: string;
  utm_medium: string;
  utm_campaign: string;
  utm_term: string;
  utm_content: string;
};

const schema = defineEntity({
  name: 'Notification',
  tableName: 'notifications',
  properties: {
    workspace_id: p.string().primary(),
    id: p.string().primary(),
    name: p.string(),
    description: p.string(),
    channels: p.json<Record<string, Channel>>(),
    tracking_settings: p.json<Tracking>(),
    metadata: p.json<JsonObject>().nullable(),
    integration_id: p.string(),
    send_to_bounced: p.boolean(),
    ttl_seconds: p.integer().nullable(),
    tags: p.json<string[]>().nullable(),
    created_at: p.datetime(),
    updated_at: p.datetime(),
  },
});

/** A kind of transactional mail. */
export class Notification extends schema.class {}
schema.setClass(Notification);

export type NotificationKey = { workspaceId: string; id: string };

function notificationNotFound(): ConnectError {
  return refusal('NOTIFICATION_NOT_FOUND', 'Notification not found');
}

export function findNotification(
  em: EntityManager,
  { workspaceId, id }: NotificationKey,
): Promise<Notification> {
  return em.findOneOrFail(
    Notification,
    { workspace_id: workspaceId, id },
    { failHandler: notificationNotFound },
  );
}

/** Locked, so that it changes once at a time. */
export function lockNotification(
  em: EntityManager,
  { workspaceId, id }: NotificationKey,
): Promise<Notification> {
  return em.findOneOrFail(
    Notification,
    { workspace_id: workspaceId, id },
    { lockMode: LockMode.PESSIMISTIC_WRITE, failHandler: notificationNotFound },
  );
}
