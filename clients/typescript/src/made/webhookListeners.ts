// Made from the contract by `npm run gen`.
import type { Http, InWorkspace, RequestOptions } from '../http.ts';
import type * as types from './types.ts';

/**
 * Gives events to programs that nobody can call, such as one behind NAT: `postrider listen` takes
 * them, and passes them on to a local server.
 *
 * A listener has deliveries of its own, which wait until it takes them: it takes none of a
 * subscription or of another listener. At most 10,000 wait; beyond that the oldest are deleted
 * within a minute. A listener that takes nothing for 5 minutes ends by itself. Events that it has
 * taken stay in `webhookSubscriptions.deliveries` for an hour after its end.
 */
export class WebhookListeners {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * Starts a listener. Every event that happens after the answer waits for it.
   *
   * Installations with `DEMO_MODE=true` refuse it with a 400.
   */
  create(
    request: InWorkspace<types.CreateWebhookListenerRequest> = {},
    options?: RequestOptions,
  ): Promise<types.CreateWebhookListenerResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/webhookListeners.create', keyed: true },
      request,
      options,
    );
  }

  /**
   * Gives the oldest events that wait for a listener, at most 100 and about 1 MiB, and keeps it from
   * ending for another 5 minutes. They are given again until a later call names them in `taken_ids`.
   *
   * Installations with `DEMO_MODE=true` refuse it with a 400.
   */
  take(
    request: InWorkspace<types.TakeWebhookEventsRequest>,
    options?: RequestOptions,
  ): Promise<types.TakeWebhookEventsResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/webhookListeners.take' }, request, options);
  }

  /**
   * Ends a listener. It gets no events after the answer, and those that wait for it are deleted
   * within a minute. A listener that has ended stays so.
   */
  end(
    request: InWorkspace<types.EndWebhookListenerRequest>,
    options?: RequestOptions,
  ): Promise<types.EndWebhookListenerResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/webhookListeners.end' }, request, options);
  }

  /**
   * Gives a made-up event of a type to the listeners of the workspace that want it. Nothing else
   * happens: no contact and no message changes, and subscriptions get nothing
   * (`webhookSubscriptions.test` is for them).
   *
   * Installations with `DEMO_MODE=true` refuse it with a 400.
   */
  trigger(
    request: InWorkspace<types.TriggerWebhookEventRequest>,
    options?: RequestOptions,
  ): Promise<types.TriggerWebhookEventResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/webhookListeners.trigger' },
      request,
      options,
    );
  }
}
