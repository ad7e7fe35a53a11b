// Made from the contract by `npm run gen`.
import type { Http, InWorkspace, RequestOptions } from '../http.ts';
import type * as types from './types.ts';

export type ListsListQuery = {
  /** The workspace. */
  workspace_id: string;
  /** The newest of them: 1 to 1,000; all if absent. */
  limit?: number;
};

export type ListsGetQuery = {
  /** The workspace. */
  workspace_id: string;
  /** The list. */
  id: string;
};

export type ListsStatsQuery = {
  /** The list. */
  list_id: string;
  /** The workspace. */
  workspace_id: string;
};

export type ListsExportQuery = {
  /** The workspace. */
  workspace_id: string;
  /** The list. */
  list_id: string;
  /** Only members with this status. */
  status?: types.MembershipStatus;
  /** `ndjson`, the default, or `csv`. */
  format?: types.ExportFormat;
};

/** Keeps lists. */
export class Lists {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Lists all lists, newest first. At most 1,000. */
  list(
    request: InWorkspace<ListsListQuery> = {},
    options?: RequestOptions,
  ): Promise<types.ListListsResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/lists.list' }, request, options);
  }

  /** Reads one list. */
  get(
    request: InWorkspace<ListsGetQuery>,
    options?: RequestOptions,
  ): Promise<types.GetListResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/lists.get' }, request, options);
  }

  /**
   * Creates a list. Its template and the notification of its welcome cannot be deleted while the
   * list uses them.
   */
  create(
    request: InWorkspace<types.CreateListRequest>,
    options?: RequestOptions,
  ): Promise<types.CreateListResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/lists.create', keyed: true },
      request,
      options,
    );
  }

  /**
   * Replaces a list's name, flags, description, template and welcome. Without a welcome, those that
   * still wait are not sent.
   */
  update(
    request: InWorkspace<types.UpdateListRequest>,
    options?: RequestOptions,
  ): Promise<types.UpdateListResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/lists.update' }, request, options);
  }

  /** Deletes a list and ends its memberships. Its id cannot be used again. */
  delete(
    request: InWorkspace<types.DeleteListRequest>,
    options?: RequestOptions,
  ): Promise<types.DeleteListResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/lists.delete' }, request, options);
  }

  /** Counts the members of a list by status. */
  stats(
    request: InWorkspace<ListsStatsQuery>,
    options?: RequestOptions,
  ): Promise<types.GetListStatsResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/lists.stats' }, request, options);
  }

  /**
   * Creates or updates a contact and makes it an active member of lists at once, public or private,
   * whatever its status was before. Null fields keep their value. Suppressed addresses stay
   * suppressed.
   */
  subscribe(
    request: InWorkspace<types.SubscribeContactRequest>,
    options?: RequestOptions,
  ): Promise<types.SubscribeContactResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/lists.subscribe' }, request, options);
  }

  /**
   * Exports the members of a list by address, with all fields of their contacts: a line of JSON for
   * each, or a CSV file. Removed members are left out. Needs read access to `lists` as well. The
   * stream ends without an error only if it is complete: one that is cut has no last chunk. In CSV
   * times are RFC 3339, objects JSON, and texts that a spreadsheet would run begin with an
   * apostrophe, which `contacts.import` takes off. Contacts that change while it runs may be as
   * before or after. A client that reads nothing for a minute is disconnected.
   *
   * gRPC callers get a page, and ask for the next one with its `next_cursor`; `format` makes no
   * difference to them.
   */
  export(
    request: InWorkspace<Omit<ListsExportQuery, 'format'>>,
    options?: RequestOptions,
  ): AsyncGenerator<types.ExportedMember, void, undefined> {
    return this.#http.lines({ verb: 'GET', path: '/api/lists.export' }, request, options);
  }

  /** `export` as a CSV file. */
  exportCsv(
    request: InWorkspace<Omit<ListsExportQuery, 'format'>>,
    options?: RequestOptions,
  ): Promise<ReadableStream<Uint8Array>> {
    return this.#http.stream(
      { verb: 'GET', path: '/api/lists.export' },
      { ...request, format: 'csv' },
      options,
    );
  }
}
