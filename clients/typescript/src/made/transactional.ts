// Made from the contract by `npm run gen`.
import type { Http, InWorkspace, RequestOptions } from '../http.ts';
import type * as types from './types.ts';

export type TransactionalListQuery = {
  /** The workspace. */
  workspace_id: string;
  /** Only those with this text in their id or name, in any case. At most 255 characters. */
  search?: string;
  /** 1 to 1,000; 50 if absent. */
  limit?: number;
  /** How many to skip; 0 to 1,000. */
  offset?: number;
};

export type TransactionalGetQuery = {
  /** The workspace. */
  workspace_id: string;
  /** The notification. */
  id: string;
};

/** Keeps notifications, which name the template of a kind of transactional mail, and sends them. */
export class Transactional {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Lists notifications, newest first. */
  list(
    request: InWorkspace<TransactionalListQuery> = {},
    options?: RequestOptions,
  ): Promise<types.ListNotificationsResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/transactional.list' }, request, options);
  }

  /** Reads a notification. */
  get(
    request: InWorkspace<TransactionalGetQuery>,
    options?: RequestOptions,
  ): Promise<types.GetNotificationResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/transactional.get' }, request, options);
  }

  /** Creates a notification. Its template can be deleted again only after it. */
  create(
    request: InWorkspace<types.CreateNotificationRequest>,
    options?: RequestOptions,
  ): Promise<types.CreateNotificationResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/transactional.create', keyed: true },
      request,
      options,
    );
  }

  /**
   * Changes the given fields of a notification; the others stay as they are. Mail that is accepted
   * before keeps the template that it was accepted with.
   */
  update(
    request: InWorkspace<types.UpdateNotificationRequest>,
    options?: RequestOptions,
  ): Promise<types.UpdateNotificationResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/transactional.update' }, request, options);
  }

  /** Deletes a notification. Mail that is accepted before still goes out. The id is free again. */
  delete(
    request: InWorkspace<types.DeleteNotificationRequest>,
    options?: RequestOptions,
  ): Promise<types.DeleteNotificationResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/transactional.delete' }, request, options);
  }

  /**
   * Sends a template to one address with the template's `test_data`, and waits for the server's
   * answer. It is in the history, and creates no contact. A failure is reported in a successful
   * answer (`success` false).
   *
   * Installations with `DEMO_MODE=true` refuse it with a 400.
   */
  testTemplate(
    request: InWorkspace<types.TestTemplateRequest>,
    options?: RequestOptions,
  ): Promise<types.TestTemplateResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/transactional.testTemplate' },
      request,
      options,
    );
  }

  /**
   * Accepts one message to one contact, and answers when it is stored safely. It is sent at once, or
   * at `send_at`; soft failures are tried again for a day, and for 5 days by an SMTP server that is
   * `direct`; there a message with an `expires_at` waits for its receiver until then.
   *
   * The contact is created if it does not exist. Its fields are changed if the caller may write
   * contacts. A repeat with the `external_id` of a message that did not fail gets the same answer
   * and sends nothing; a bounce is no such failure. An address that bounced gets no message unless
   * the notification says `send_to_bounced`: `success` is false then, and `suppressed` says why. One
   * that complained or opted out gets it, and is reported.
   *
   * With `content` the mail is the caller's own, and needs neither a notification nor a template. It
   * is kept sealed until a day after the message is done; `messages.retry` needs it.
   *
   * Installations with `DEMO_MODE=true` refuse it with a 400.
   */
  send(
    request: InWorkspace<types.SendTransactionalRequest>,
    options?: RequestOptions,
  ): Promise<types.SendTransactionalResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/transactional.send', keyed: true },
      request,
      options,
    );
  }

  /**
   * Accepts up to 500 messages, with one answer per message in the order of the request. Each is
   * accepted or refused by itself, by the rules of `transactional.send`. A message whose
   * `external_id` another one of the request has is a repeat of that one.
   *
   * Installations with `DEMO_MODE=true` refuse it with a 400.
   */
  sendBatch(
    request: InWorkspace<types.SendTransactionalBatchRequest>,
    options?: RequestOptions,
  ): Promise<types.SendTransactionalBatchResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/transactional.sendBatch', keyed: true },
      request,
      options,
    );
  }

  /**
   * Cancels a message that waits for its `send_at`. Repeats do nothing. The welcome of a list is in
   * the history once its delay is over, and can be cancelled until it is tried.
   */
  cancel(
    request: InWorkspace<types.CancelTransactionalRequest>,
    options?: RequestOptions,
  ): Promise<types.CancelTransactionalResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/transactional.cancel' }, request, options);
  }
}
