// Made from the contract by `npm run gen`.
import type { Http, InWorkspace, RequestOptions } from '../http.ts';
import type * as types from './types.ts';

export type WebhooksStatusQuery = {
  /** The workspace. */
  workspace_id: string;
  /** The integration. */
  integration_id: string;
};

/**
 * Registers the address at which an integration's provider reports deliveries, bounces and
 * complaints, and lists what came.
 *
 * A report changes a message only if it was sent through the integration, to the recipient that
 * the report names. A report that comes twice, late or in another order changes nothing again. A
 * bounce that says that the address is dead, and a complaint, suppress the address in the
 * workspace; five soft bounces in a row, over a week or more, suppress it for 30 days. A recipient
 * who left at the provider, or by a feedback report of type `opt-out`, is unsubscribed from the
 * list of the mail, or from all mail where it was to segments alone; nothing that changed since is
 * undone.
 */
export class Webhooks {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * Registers an integration for reports and answers the URL at which they are taken. The URL has a
   * secret key, which no later answer shows. An integration that is registered already keeps its
   * key; `event_types` replaces the types.
   *
   * Every kind but `smtp` has webhooks of its own, which Postrider sets up with the credentials of
   * the integration, and verifies what comes by their signatures where the provider signs. It
   * changes nothing that others have set up there. The answer comes once the provider is set up or
   * has refused it, or after 5 s. A failure is tried again, after 2 s at first and every hour at
   * last; `webhooks.status` tells whether the endpoints are `active`, and the `error` otherwise.
   * Register again to try at once, and after a change of `provider` settings. Kind `ses` needs a
   * configuration set, which is created if there is none, and makes a topic of Amazon SNS unless the
   * settings name one.
   *
   * For kind `smtp` nothing is registered anywhere else: post to the URL from whatever reads the
   * logs of the mail server. The body is a JSON object, or a list of at most 1,000, of at most 1
   * MiB: `{"event": "bounce", "message_id": "…", "recipient": "ann@example.com", "timestamp":
   * "2026-11-25T10:00:00Z", "bounce_category": "hard", "diagnostic_code": "550 5.1.1 no such
   * user"}`. `event` is `delivered`, `bounce` or `complaint`; `message_id` is the message's UUID, or
   * its Message-ID. An enhanced status code in `diagnostic_code` decides the class of a bounce, then
   * `bounce_category`, then the words. `complaint_type` is that of a feedback report, such as
   * `abuse`. `id`, a text or a number, may name the report: one with the same id is the same report.
   * Without it, reports that say the same are. The answer is 200 once the reports are stored, 401
   * for whatever is wrong with the URL, 400 where the body is no such JSON, and 503 with
   * `Retry-After` where they cannot be stored now.
   */
  register(
    request: InWorkspace<types.RegisterReportsRequest>,
    options?: RequestOptions,
  ): Promise<types.RegisterReportsResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/webhooks.register', keyed: true },
      request,
      options,
    );
  }

  /**
   * Tells whether an integration is registered for reports, and whether its provider is set up. Its
   * URLs are without their key.
   */
  status(
    request: InWorkspace<WebhooksStatusQuery>,
    options?: RequestOptions,
  ): Promise<types.GetReportStatusResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/webhooks.status' }, request, options);
  }

  /**
   * Takes no more reports of an integration: its keys end at once. Reports that were taken are still
   * applied. The webhook at the provider is removed soon after; one of an integration that is
   * deleted already stays there, and what it posts is refused.
   *
   * Installations with `DEMO_MODE=true` refuse it with a 400.
   */
  unregister(
    request: InWorkspace<types.UnregisterReportsRequest>,
    options?: RequestOptions,
  ): Promise<types.UnregisterReportsResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/webhooks.unregister' }, request, options);
  }

  /**
   * Makes a new key for an integration's URL. The one before is taken for 24 more hours, and so is
   * the one that the provider has. The provider gets the new one soon after; until then its
   * endpoints are not `active`, and the key that it has is taken, for at most a week.
   *
   * Installations with `DEMO_MODE=true` refuse it with a 400.
   */
  rotateSecret(
    request: InWorkspace<types.RotateReportSecretRequest>,
    options?: RequestOptions,
  ): Promise<types.RotateReportSecretResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/webhooks.rotateSecret', keyed: true },
      request,
      options,
    );
  }
}
