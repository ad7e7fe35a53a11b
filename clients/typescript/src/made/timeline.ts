// Made from the contract by `npm run gen`.
import type { Http, InWorkspace, RequestOptions } from '../http.ts';
import { pages } from '../pages.ts';
import type * as types from './types.ts';

export type TimelineListQuery = {
  /** The workspace. */
  workspace_id: string;
  /** The contact. */
  email: string;
  /**
   * Only these kinds, at most 50; a kind that ends with `.*` stands for all that begin so. All if
   * empty.
   */
  kinds?: Array<string>;
  /** Only what happened at this time or later. */
  since?: string;
  /** Only what happened before this time. */
  until?: string;
  /** 1 to 100; 50 if absent. A page may hold fewer, since it ends at 4 MiB. */
  limit?: number;
  /** `next_cursor` of the page before; empty for the first. */
  cursor?: string;
};

/**
 * Tells what happened to a contact: its changes, lists, segments, custom events and messages.
 * Entries are kept for as long as the workspace's `timeline_retention_days` say, and erased with
 * the contact.
 */
export class Timeline {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * Lists what happened to a contact, newest first, by pages. Empty for an address that is no
   * contact's.
   */
  list(
    request: InWorkspace<TimelineListQuery>,
    options?: RequestOptions,
  ): Promise<types.ListTimelineResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/timeline.list' }, request, options);
  }

  /** The items of all pages of `list`, each asked for as it is needed. */
  listAll(
    request: InWorkspace<Omit<TimelineListQuery, 'cursor'>>,
    options?: RequestOptions,
  ): AsyncGenerator<types.TimelineEntry, void, undefined> {
    return pages(async (cursor) => {
      const answer = await this.list(
        { ...request, ...(cursor === undefined ? {} : { cursor }) },
        options,
      );
      return { items: answer.timeline, next: answer.next_cursor };
    });
  }
}
