// Made from the contract by `npm run gen`.
import type { Http, InWorkspace, RequestOptions } from '../http.ts';
import type * as types from './types.ts';

export type SegmentsListQuery = {
  /** The workspace. */
  workspace_id: string;
  /** Whether `users_count` is filled. */
  with_count?: boolean;
  /** The newest of them: 1 to 1,000; all if absent. */
  limit?: number;
};

export type SegmentsGetQuery = {
  /** The workspace. */
  workspace_id: string;
  /** The segment. */
  id: string;
};

export type SegmentsContactsQuery = {
  /** The workspace. */
  workspace_id: string;
  /** The segment. */
  segment_id: string;
  /** 1 to 1,000; 50 if absent. */
  limit?: number;
  /** `next_cursor` of the page before; empty for the first. */
  cursor?: string;
  /**
   * `contact` gives the contacts with their fields as well, in pages that may be shorter than
   * `limit`.
   */
  expand?: 'contact';
};

export type SegmentsExportQuery = {
  /** The workspace. */
  workspace_id: string;
  /** The segment. */
  segment_id: string;
  /** `ndjson`, the default, or `csv`. */
  format?: types.ExportFormat;
};

/**
 * Keeps segments and who is in them. A change of a contact, list, custom event or message moves
 * the contact in and out within seconds; conditions on relative dates are computed again every day
 * at 05:00 of the segment's zone.
 */
export class Segments {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Lists all segments, newest first. */
  list(
    request: InWorkspace<SegmentsListQuery> = {},
    options?: RequestOptions,
  ): Promise<types.ListSegmentsResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/segments.list' }, request, options);
  }

  /** Reads one segment and how many contacts it has. */
  get(
    request: InWorkspace<SegmentsGetQuery>,
    options?: RequestOptions,
  ): Promise<types.GetSegmentResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/segments.get' }, request, options);
  }

  /** Creates a segment and begins to build it. Its tree is tried out first. */
  create(
    request: InWorkspace<types.CreateSegmentRequest>,
    options?: RequestOptions,
  ): Promise<types.CreateSegmentResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/segments.create', keyed: true },
      request,
      options,
    );
  }

  /**
   * Replaces name, color, tree and zone. Another tree or zone is a new version, which is built anew;
   * until then contacts that were in stay in.
   */
  update(
    request: InWorkspace<types.UpdateSegmentRequest>,
    options?: RequestOptions,
  ): Promise<types.UpdateSegmentResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/segments.update' }, request, options);
  }

  /** Deletes a segment. Its contacts leave it in the background; the id is free again after that. */
  delete(
    request: InWorkspace<types.DeleteSegmentRequest>,
    options?: RequestOptions,
  ): Promise<types.DeleteSegmentResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/segments.delete' }, request, options);
  }

  /** Begins to build a segment again from all contacts; a build that runs starts over. */
  rebuild(
    request: InWorkspace<types.RebuildSegmentRequest>,
    options?: RequestOptions,
  ): Promise<types.RebuildSegmentResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/segments.rebuild' }, request, options);
  }

  /** Says who would be in a segment with this tree, without making one. */
  preview(
    request: InWorkspace<types.PreviewSegmentRequest>,
    options?: RequestOptions,
  ): Promise<types.PreviewSegmentResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/segments.preview' }, request, options);
  }

  /** Lists the contacts of a segment by address, by pages. */
  contacts(
    request: InWorkspace<SegmentsContactsQuery>,
    options?: RequestOptions,
  ): Promise<types.ListSegmentContactsResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/segments.contacts' }, request, options);
  }

  /**
   * Exports the contacts of a segment by address, as they are computed, with all their fields: a
   * line of JSON for each, or a CSV file. The stream ends without an error only if it is complete:
   * one that is cut has no last chunk. In CSV times are RFC 3339, objects JSON, and texts that a
   * spreadsheet would run begin with an apostrophe, which `contacts.import` takes off. Contacts that
   * change while it runs may be as before or after. A client that reads nothing for a minute is
   * disconnected.
   *
   * gRPC callers get a page, and ask for the next one with its `next_cursor`; `format` makes no
   * difference to them.
   */
  export(
    request: InWorkspace<Omit<SegmentsExportQuery, 'format'>>,
    options?: RequestOptions,
  ): AsyncGenerator<types.ExportedSegmentMember, void, undefined> {
    return this.#http.lines({ verb: 'GET', path: '/api/segments.export' }, request, options);
  }

  /** `export` as a CSV file. */
  exportCsv(
    request: InWorkspace<Omit<SegmentsExportQuery, 'format'>>,
    options?: RequestOptions,
  ): Promise<ReadableStream<Uint8Array>> {
    return this.#http.stream(
      { verb: 'GET', path: '/api/segments.export' },
      { ...request, format: 'csv' },
      options,
    );
  }
}
