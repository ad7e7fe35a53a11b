// Made from the contract by `npm run gen`.
import type { Http, InWorkspace, RequestOptions } from '../http.ts';
import { pages } from '../pages.ts';
import type * as types from './types.ts';

export type InboundWebhookEventsListQuery = {
  /** The workspace. */
  workspace_id: string;
  /** `next_cursor` of the page before; empty for the first. */
  cursor?: string;
  /** 1 to 100; 20 if absent. */
  limit?: number;
  /** Only this type: `delivered`, `bounce` or `complaint`; all if empty. */
  event_type?: string;
  /** Only about this recipient, in any case; all if empty. */
  recipient_email?: string;
  /** Only about this message, by its UUID; all if empty. */
  message_id?: string;
  /** Only those with this time or a later one. */
  timestamp_after?: string;
  /** Only those before this time. */
  timestamp_before?: string;
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
export class InboundWebhookEvents {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * Lists reports that came, newest first by their times. They are kept for 30 days, and deleted
   * with their contact.
   */
  list(
    request: InWorkspace<InboundWebhookEventsListQuery> = {},
    options?: RequestOptions,
  ): Promise<types.ListInboundReportsResponse> {
    return this.#http.call(
      { verb: 'GET', path: '/api/inboundWebhookEvents.list' },
      request,
      options,
    );
  }

  /** The items of all pages of `list`, each asked for as it is needed. */
  listAll(
    request: InWorkspace<Omit<InboundWebhookEventsListQuery, 'cursor'>> = {},
    options?: RequestOptions,
  ): AsyncGenerator<types.InboundReport, void, undefined> {
    return pages(async (cursor) => {
      const answer = await this.list(
        { ...request, ...(cursor === undefined ? {} : { cursor }) },
        options,
      );
      return { items: answer.events, next: answer.next_cursor };
    });
  }
}
