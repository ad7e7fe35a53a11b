// Made from the contract by `npm run gen`.
import type { Http, InWorkspace, RequestOptions } from '../http.ts';
import { pages } from '../pages.ts';
import type * as types from './types.ts';

export type MessagesListQuery = {
  /** The workspace. */
  workspace_id: string;
  /** `next_cursor` of the page before; empty for the first. */
  cursor?: string;
  /** 1 to 1,000; 20 if absent. */
  limit?: number;
  /** Only this message. */
  id?: string;
  /** Only messages with this key of the caller's. */
  external_id?: string;
  /** Only messages to this list. */
  list_id?: string;
  /** Only this channel; `email`. */
  channel?: string;
  /** Only messages to this address. */
  contact_email?: string;
  /** Only messages of this broadcast. */
  broadcast_id?: string;
  /** Only messages of this template. */
  template_id?: string;
  /** Only messages that the server accepted, or others. */
  is_sent?: boolean;
  /** Only those reported delivered, or others. Over SMTP none is. */
  is_delivered?: boolean;
  /** Only failed ones, or others. */
  is_failed?: boolean;
  /** Only opened ones, or others. */
  is_opened?: boolean;
  /** Only clicked ones, or others. */
  is_clicked?: boolean;
  /** Only bounced ones, or others. */
  is_bounced?: boolean;
  /** Only complained ones, or others. Over SMTP none is. */
  is_complained?: boolean;
  /** Only those by whose link the recipient unsubscribed, or others. */
  is_unsubscribed?: boolean;
  /** Sent at or after. */
  sent_after?: string;
  /** Sent at or before. */
  sent_before?: string;
  /** Changed at or after. */
  updated_after?: string;
  /** Changed at or before. */
  updated_before?: string;
  /** Only messages of this notification. */
  notification_id?: string;
  /**
   * Only messages to addresses that begin with this text, in any case; at most 254 characters. Not
   * used beside `contact_email`. Messages come in the order of addresses then.
   */
  contact_email_prefix?: string;
  /** Only messages in this state, one of those of `status` in a message. */
  status?: string;
  /** Only messages with this tag. */
  tag?: string;
};

export type MessagesGetQuery = {
  /** The workspace. */
  workspace_id: string;
  /** The message. */
  id: string;
};

export type MessagesWhyQuery = {
  /** The workspace. */
  workspace_id: string;
  /** The address. */
  email: string;
  /** Only mail of this broadcast. */
  broadcast_id?: string;
  /** Only mail of this notification. */
  notification_id?: string;
};

export type MessagesExportQuery = {
  /** The workspace. */
  workspace_id: string;
  /** Messages of a page, 1 to 1,000; 500 if absent. A page may have fewer. */
  limit?: number;
  /** Only this message. */
  id?: string;
  /** Only messages with this key of the caller's. */
  external_id?: string;
  /** Only messages to this list. */
  list_id?: string;
  /** Only this channel; `email`. */
  channel?: string;
  /** Only messages to this address. */
  contact_email?: string;
  /** Only messages of this broadcast. */
  broadcast_id?: string;
  /** Only messages of this template. */
  template_id?: string;
  /** Only messages that the server accepted, or others. */
  is_sent?: boolean;
  /** Only those reported delivered, or others. Over SMTP none is. */
  is_delivered?: boolean;
  /** Only failed ones, or others. */
  is_failed?: boolean;
  /** Only opened ones, or others. */
  is_opened?: boolean;
  /** Only clicked ones, or others. */
  is_clicked?: boolean;
  /** Only bounced ones, or others. */
  is_bounced?: boolean;
  /** Only complained ones, or others. Over SMTP none is. */
  is_complained?: boolean;
  /** Only those by whose link the recipient unsubscribed, or others. */
  is_unsubscribed?: boolean;
  /** Sent at or after. */
  sent_after?: string;
  /** Sent at or before. */
  sent_before?: string;
  /** Changed at or after. */
  updated_after?: string;
  /** Changed at or before. */
  updated_before?: string;
  /** Only messages of this notification. */
  notification_id?: string;
  /**
   * Only messages to addresses that begin with this text, in any case; at most 254 characters. Not
   * used beside `contact_email`. Messages come in the order of addresses then.
   */
  contact_email_prefix?: string;
  /** Only messages in this state, one of those of `status` in a message. */
  status?: string;
  /** Only messages with this tag. */
  tag?: string;
};

export type MessagesTagStatsQuery = {
  /** The workspace. */
  workspace_id: string;
  /** Only this tag; all tags if empty. */
  tag?: string;
  /** The first day, such as `2026-11-01`. */
  from: string;
  /** The last day; at most 30 days later. */
  to: string;
};

export type MessagesBroadcastStatsQuery = {
  /** The broadcast. */
  broadcast_id: string;
  /** The workspace. */
  workspace_id: string;
};

/** Reads the outcomes of messages, and sends failed ones again. */
export class Messages {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * Lists messages, newest first, by pages.
   *
   * A page looks at 5,000 messages or a few more, so that it is as fast among millions: where few of
   * these match, it is short or empty and still has a next one. Such searches are faster with `id`,
   * `external_id`, `contact_email`, `contact_email_prefix`, `broadcast_id`, `notification_id` or
   * `tag`. With `contact_email_prefix` they are in the order of addresses, and newest first for
   * each.
   */
  list(
    request: InWorkspace<MessagesListQuery> = {},
    options?: RequestOptions,
  ): Promise<types.ListMessagesResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/messages.list' }, request, options);
  }

  /** The items of all pages of `list`, each asked for as it is needed. */
  listAll(
    request: InWorkspace<Omit<MessagesListQuery, 'cursor'>> = {},
    options?: RequestOptions,
  ): AsyncGenerator<types.Message, void, undefined> {
    return pages(async (cursor) => {
      const answer = await this.list(
        { ...request, ...(cursor === undefined ? {} : { cursor }) },
        options,
      );
      return { items: answer.messages, next: answer.next_cursor };
    });
  }

  /** Reads a message, with its content if the workspace keeps contents (`message_content_days`). */
  get(
    request: InWorkspace<MessagesGetQuery>,
    options?: RequestOptions,
  ): Promise<types.GetMessageResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/messages.get' }, request, options);
  }

  /**
   * Says in words why an address got mail or did not: by the record of messages, suppressions,
   * consent, and what holds mail back now. About all mail, one broadcast, or one notification.
   */
  why(
    request: InWorkspace<MessagesWhyQuery>,
    options?: RequestOptions,
  ): Promise<types.ExplainMessagesResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/messages.why' }, request, options);
  }

  /**
   * Exports all messages of a filter, in the order of `messages.list`: one line of JSON for each.
   * The stream ends without an error only if it is complete. Messages that are created while it runs
   * are left out, and those that change may be as before or after. A client that reads nothing for a
   * minute is disconnected.
   *
   * gRPC callers get a page of up to 1,000 messages, and ask for the next one with its
   * `next_cursor`.
   */
  export(
    request: InWorkspace<MessagesExportQuery> = {},
    options?: RequestOptions,
  ): AsyncGenerator<types.Message, void, undefined> {
    return this.#http.lines({ verb: 'GET', path: '/api/messages.export' }, request, options);
  }

  /**
   * Puts a transactional message that failed back into the queue, under the same id: it is tried at
   * once, and again for a day. One that bounced is sent again only if its notification says
   * `send_to_bounced`.
   *
   * Installations with `DEMO_MODE=true` refuse it with a 400.
   */
  retry(
    request: InWorkspace<types.RetryMessageRequest>,
    options?: RequestOptions,
  ): Promise<types.RetryMessageResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/messages.retry' }, request, options);
  }

  /**
   * Counts tagged messages by tag, and by the day (UTC) on which each was accepted or first claimed.
   * A message with several tags counts for each. Messages that are no longer kept are not counted.
   */
  tagStats(
    request: InWorkspace<MessagesTagStatsQuery>,
    options?: RequestOptions,
  ): Promise<types.ListTagStatsResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/messages.tagStats' }, request, options);
  }

  /** Counts the messages of a broadcast by outcome; zeros for an unknown broadcast. */
  broadcastStats(
    request: InWorkspace<MessagesBroadcastStatsQuery>,
    options?: RequestOptions,
  ): Promise<types.GetBroadcastStatsResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/messages.broadcastStats' }, request, options);
  }
}
