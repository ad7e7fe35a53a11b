import type { ConnectError } from '@connectrpc/connect';
import { defineEntity, p } from '@mikro-orm/core';
import { refusal } from '#lib/errors/reasons.ts';

export type CustomEventFilters = { goal_types: string[]; event_names: string[] };

const schema = defineEntity({
  name: 'Subscription',
  tableName: 'subscriptions',
  properties: {
    workspace_id: p.string().primary(),
    id: p.string().primary(),
    name: p.string(),
    url: p.string(),
    sealed_secret: p.string(),
    event_types: p.array(),
    custom_event_filters: p.json<CustomEventFilters>().nullable(),
    list_ids: p.array(),
    segment_ids: p.array(),
    source: p.string(),
    enabled: p.boolean(),
    disabled_reason: p.string().nullable(),
    last_delivery_at: p.datetime().nullable(),
    /** Failures since the last success. */
    failures_in_row: p.integer(),
    /** When the first of them happened. */
    failing_since: p.datetime().nullable(),
    /** Set while the circuit is open: when the next attempt is made, of one delivery. */
    probe_at: p.datetime().nullable(),
    /** When the circuit closed; deliveries are paced for some seconds after it. */
    recovered_at: p.datetime().nullable(),
    /** While paced: nothing is claimed before. */
    next_claim_at: p.datetime().nullable(),
    /** When the workflow looks next; null if there is no run. */
    next_wake_at: p.datetime().nullable(),
    /** When deliveries of it last failed since too many waited. */
    dropped_at: p.datetime().nullable(),
    created_at: p.datetime(),
    updated_at: p.datetime(),
  },
});

/** The endpoint of a workspace, the events that it wants, and how well it has answered. */
export class Subscription extends schema.class {
  /** Enabling makes a new start: earlier failures don't count. */
  setEnabled(enabled: boolean): void {
    if (enabled && !this.enabled) this.forgetFailures();
    this.enabled = enabled;
  }

  forgetFailures(): void {
    this.failures_in_row = 0;
    this.failing_since = null;
    this.probe_at = null;
    this.disabled_reason = null;
  }
}
schema.setClass(Subscription);

export type SubscriptionStatus = 'disabled' | 'failing' | 'healthy';

/** In a word, for operators: a failing endpoint gets one attempt at a time, and rarely. */
export function statusOf({
  enabled,
  probe_at,
}: Pick<Subscription, 'enabled' | 'probe_at'>): SubscriptionStatus {
  if (!enabled) return 'disabled';
  return probe_at ? 'failing' : 'healthy';
}

/** The part of its address that people may see: the rest may hold secrets. */
export function hostOf({ url }: { url: string }): string {
  return new URL(url).host;
}

export type SubscriptionKey = { workspaceId: string; id: string };

/** SQL of whether an endpoint has failed of late: then claims open a gate in its row. */
export const isGatedSql = '(probe_at is not null or recovered_at is not null)';

/** A key of maps. */
export const nameOf = ({ workspaceId, id }: SubscriptionKey): string => `${workspaceId}/${id}`;

export function subscriptionNotFound(): ConnectError {
  return refusal('WEBHOOK_SUBSCRIPTION_NOT_FOUND', 'Webhook subscription not found');
}
