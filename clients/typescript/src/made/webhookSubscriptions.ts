// Made from the contract by `npm run gen`.
import type { Http, InWorkspace, RequestOptions } from '../http.ts';
import type * as types from './types.ts';

export type WebhookSubscriptionsListQuery = {
  /** The workspace. */
  workspace_id: string;
  /** The newest of them: 1 to 1,000; all if absent. */
  limit?: number;
};

export type WebhookSubscriptionsGetQuery = {
  /** The workspace. */
  workspace_id: string;
  /** The subscription. */
  id: string;
};

export type WebhookSubscriptionsDeliveriesQuery = {
  /** The workspace. */
  workspace_id: string;
  /** Only those of this subscription, or of this listener. */
  subscription_id?: string;
  /** 1 to 100; 20 if absent. */
  limit?: number;
  /** How many to leave out, at most 100,000; to read further back, use `until`. */
  offset?: number;
  /** Only those in this status: `pending`, `delivered`, `failed` or `waiting`. */
  status?: string;
  /** Only those of this type. */
  event_type?: string;
  /** Only those made at or after this time. */
  since?: string;
  /** Only those made before this time. */
  until?: string;
  /** Only the one with this id; a UUID. */
  id?: string;
};

export type WebhookSubscriptionsEventTypesQuery = Record<string, never>;

/**
 * Keeps webhook subscriptions, and shows and repeats their deliveries.
 *
 * A callback is a POST of `{id, type, workspace_id, timestamp, data}` with the headers
 * `webhook-id`, `webhook-timestamp` and `webhook-signature`. `id` is that of the delivery and the
 * same in each attempt; the order is not promised. An answer with a status from 200 to 299 within
 * 10 seconds is a success; redirects are failures. After a failure the callback is repeated after
 * 30 seconds, 1, 2, 5, 15 and 30 minutes, 1, 2 and 6 hours (each up to 10 % more or less), or
 * later if the answer says so in `Retry-After`. An answer of 410 disables the subscription; so do
 * five days with at least five failures and no success.
 *
 * At most 100,000 deliveries of a subscription and 500,000 of a workspace are pending, or what the
 * installation sets: beyond that the oldest become `failed`, with the reason in `last_error`, and
 * the owners of the workspace get a mail. `redeliver` brings them back.
 */
export class WebhookSubscriptions {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Lists all subscriptions, newest first. At most 100. */
  list(
    request: InWorkspace<WebhookSubscriptionsListQuery> = {},
    options?: RequestOptions,
  ): Promise<types.ListWebhookSubscriptionsResponse> {
    return this.#http.call(
      { verb: 'GET', path: '/api/webhookSubscriptions.list' },
      request,
      options,
    );
  }

  /** Reads one subscription. */
  get(
    request: InWorkspace<WebhookSubscriptionsGetQuery>,
    options?: RequestOptions,
  ): Promise<types.GetWebhookSubscriptionResponse> {
    return this.#http.call(
      { verb: 'GET', path: '/api/webhookSubscriptions.get' },
      request,
      options,
    );
  }

  /**
   * Creates an enabled subscription with a new secret. Every event that happens after the answer is
   * delivered.
   *
   * Installations with `DEMO_MODE=true` refuse it with a 400.
   */
  create(
    request: InWorkspace<types.CreateWebhookSubscriptionRequest>,
    options?: RequestOptions,
  ): Promise<types.CreateWebhookSubscriptionResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/webhookSubscriptions.create', keyed: true },
      request,
      options,
    );
  }

  /**
   * Replaces the name, address, types and filters of a subscription. Its secret stays. A new address
   * ends the pause that failures of the old one have caused.
   *
   * Installations with `DEMO_MODE=true` refuse it with a 400.
   */
  update(
    request: InWorkspace<types.UpdateWebhookSubscriptionRequest>,
    options?: RequestOptions,
  ): Promise<types.UpdateWebhookSubscriptionResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/webhookSubscriptions.update' },
      request,
      options,
    );
  }

  /**
   * Enables or disables a subscription. While it is disabled it gets no new events, and what is
   * pending waits. Enabling forgets earlier failures.
   */
  toggle(
    request: InWorkspace<types.ToggleWebhookSubscriptionRequest>,
    options?: RequestOptions,
  ): Promise<types.ToggleWebhookSubscriptionResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/webhookSubscriptions.toggle' },
      request,
      options,
    );
  }

  /**
   * Deletes a subscription and its deliveries. No callback begins after the answer; those that are
   * open end within 10 seconds. Where the service runs in several processes, each of the others may
   * still begin 20 that it had claimed before.
   */
  delete(
    request: InWorkspace<types.DeleteWebhookSubscriptionRequest>,
    options?: RequestOptions,
  ): Promise<types.DeleteWebhookSubscriptionResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/webhookSubscriptions.delete' },
      request,
      options,
    );
  }

  /**
   * Replaces the secret. The next attempt of every delivery is signed with the new one; the old one
   * is invalid at once.
   *
   * Installations with `DEMO_MODE=true` refuse it with a 400.
   */
  regenerateSecret(
    request: InWorkspace<types.RegenerateWebhookSecretRequest>,
    options?: RequestOptions,
  ): Promise<types.RegenerateWebhookSecretResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/webhookSubscriptions.regenerateSecret' },
      request,
      options,
    );
  }

  /**
   * Sends one signed callback with made-up data, enabled or not, and waits for its answer. It is no
   * delivery: it is not recorded and not repeated. The answer says why it failed.
   *
   * Installations with `DEMO_MODE=true` refuse it with a 400.
   */
  test(
    request: InWorkspace<types.TestWebhookSubscriptionRequest>,
    options?: RequestOptions,
  ): Promise<types.TestWebhookSubscriptionResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/webhookSubscriptions.test' },
      request,
      options,
    );
  }

  /**
   * Lists deliveries, newest first. Payloads that the caller may not read are left empty. It looks
   * at the newest 100,000 of the subscription and the times that are asked for.
   */
  deliveries(
    request: InWorkspace<WebhookSubscriptionsDeliveriesQuery> = {},
    options?: RequestOptions,
  ): Promise<types.ListWebhookDeliveriesResponse> {
    return this.#http.call(
      { verb: 'GET', path: '/api/webhookSubscriptions.deliveries' },
      request,
      options,
    );
  }

  /**
   * Delivers failed deliveries of a subscription again, under the same ids, with ten new attempts:
   * one of them, or all that were made since a time, oldest first, 10,000 per call.
   */
  redeliver(
    request: InWorkspace<types.RedeliverWebhooksRequest>,
    options?: RequestOptions,
  ): Promise<types.RedeliverWebhooksResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/webhookSubscriptions.redeliver' },
      request,
      options,
    );
  }

  /** Lists all types of events. */
  eventTypes(
    request: InWorkspace<WebhookSubscriptionsEventTypesQuery> = {},
    options?: RequestOptions,
  ): Promise<types.ListWebhookEventTypesResponse> {
    return this.#http.call(
      { verb: 'GET', path: '/api/webhookSubscriptions.eventTypes' },
      request,
      options,
    );
  }
}
