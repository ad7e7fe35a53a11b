import type { JsonObject } from '@bufbuild/protobuf';
import { createTrackingTokens } from '#lib/keys/tracking-token.ts';
import type { LiquidScope } from '#lib/liquid/engine.ts';
import type { Envelope, MailRecipient } from '../../services/messages/render/compose.ts';
import { keyring } from '../setup/service.ts';
import type { GivenMail } from './given.ts';

/** Common to all mails of the check: the sender, the links of the system, the UTM. */

export const workspaceId = 'w1';
export const base = 'https://mail.example';
export const utm = { source: 'mails' };
export const language = 'en';
export const tracking = { opens: `${base}/t/${workspaceId}/`, clicks: `${base}/r/${workspaceId}/` };
const messageId = '0197f3c0-0000-7000-8000-000000000001';
export const trackingToken = createTrackingTokens(keyring)(workspaceId, messageId, Buffer.alloc(8));

export const envelope: Envelope = {
  from: { email: 'shop@sender.example', name: 'Größe & Co' },
  replyTo: '',
  list: { id: 'weekly', name: 'Weekly' },
  canBeLeft: true,
  feedbackId: ['b1'],
  values: { workspace: { base_url: base, website_url: '' } },
  utm,
  tracking,
};

const urls = {
  unsubscribe: `${base}/u/${workspaceId}/x`,
  preferences: `${base}/p/${workspaceId}/x`,
  confirm: `${base}/c/${workspaceId}/x`,
  webVersion: `${base}/w/${workspaceId}/x`,
};

export const systemUrls: readonly string[] = Object.values(urls);

export function recipientOf({ data: given }: GivenMail): MailRecipient {
  const { contact, global_feed, recipient_feed, ...data } = given;
  return {
    messageId,
    email: 'ann@example.com',
    contact: isObject(contact) ? contact : {},
    feeds: { ...(global_feed && { global_feed }), ...(recipient_feed && { recipient_feed }) },
    urls,
    trackingToken,
    data,
  };
}

/** The values that Liquid reads in a mail, as docs/guides tell of them. */
export function valuesOf({ data }: GivenMail): JsonObject {
  return {
    ...data,
    workspace: { base_url: base, website_url: '' },
    contact: isObject(data.contact) ? data.contact : {},
    message_id: messageId,
    unsubscribe_url: urls.unsubscribe,
    oneclick_unsubscribe_url: urls.unsubscribe,
    notification_center_url: urls.preferences,
    confirm_subscription_url: urls.confirm,
    web_version_url: urls.webVersion,
    tracking_token: trackingToken,
  };
}

function isObject(value: unknown): value is JsonObject & LiquidScope {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
