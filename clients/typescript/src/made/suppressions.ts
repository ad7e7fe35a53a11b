// Made from the contract by `npm run gen`.
import type { Http, InWorkspace, RequestOptions } from '../http.ts';
import { pages } from '../pages.ts';
import type * as types from './types.ts';

export type SuppressionsListQuery = {
  /** The workspace. */
  workspace_id: string;
  /** Only with this reason: `bounced`, `complained` or `opted_out`; all if empty. */
  reason?: string;
  /** Only addresses that begin so, in any case; at most 254 characters. */
  email_prefix?: string;
  /** 1 to 1,000; 50 if absent. */
  limit?: number;
  /** `next_cursor` of the page before; empty for the first. */
  cursor?: string;
};

/**
 * Keeps the suppression list of a workspace. An address on it gets no broadcast, no message by
 * hand and no confirmation mail, which is looked up when a message is about to be sent.
 * Transactional mail goes to it unless it bounced, and the answer names it; to one that bounced it
 * goes only if the notification says `send_to_bounced`. Bounces put addresses on the list by
 * themselves.
 */
export class Suppressions {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Lists suppressed addresses, in the order of addresses, by pages. */
  list(
    request: InWorkspace<SuppressionsListQuery> = {},
    options?: RequestOptions,
  ): Promise<types.ListSuppressionsResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/suppressions.list' }, request, options);
  }

  /** The items of all pages of `list`, each asked for as it is needed. */
  listAll(
    request: InWorkspace<Omit<SuppressionsListQuery, 'cursor'>> = {},
    options?: RequestOptions,
  ): AsyncGenerator<types.Suppression, void, undefined> {
    return pages(async (cursor) => {
      const answer = await this.list(
        { ...request, ...(cursor === undefined ? {} : { cursor }) },
        options,
      );
      return { items: answer.suppressions, next: answer.next_cursor };
    });
  }

  /**
   * Suppresses an address. It need not belong to a contact. An address that is suppressed already
   * keeps its entry, unless the new reason is stronger: `bounced` before `complained` before
   * `opted_out`.
   */
  add(
    request: InWorkspace<types.AddSuppressionRequest>,
    options?: RequestOptions,
  ): Promise<types.AddSuppressionResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/suppressions.add' }, request, options);
  }

  /**
   * Suppresses up to 10,000 addresses, as `suppressions.add` does, with one answer per row. Rows
   * that are wrong change nothing and hold up no others; of rows with the same address each counts,
   * the strongest reason wins.
   */
  import(
    request: InWorkspace<types.ImportSuppressionsRequest>,
    options?: RequestOptions,
  ): Promise<types.ImportSuppressionsResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/suppressions.import' }, request, options);
  }

  /**
   * Takes an address off the list: mail to it is sent again at once. Reports of bounces and
   * complaints from before, which come later, do not put it back, for 90 days. Its memberships of
   * lists stay as they are: one that has bounced or complained is made active with
   * `contactLists.updateStatus`. The reason is kept in the audit log, the address is not.
   *
   * Installations with `DEMO_MODE=true` refuse it with a 400.
   */
  remove(
    request: InWorkspace<types.RemoveSuppressionRequest>,
    options?: RequestOptions,
  ): Promise<types.RemoveSuppressionResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/suppressions.remove' }, request, options);
  }
}
