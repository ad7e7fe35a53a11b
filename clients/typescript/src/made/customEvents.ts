// Made from the contract by `npm run gen`.
import type { Http, InWorkspace, RequestOptions } from '../http.ts';
import { pages } from '../pages.ts';
import type * as types from './types.ts';

export type CustomEventsGetQuery = {
  /** The workspace. */
  workspace_id: string;
  /** Its name. */
  event_name: string;
  /** Its external id. */
  external_id: string;
};

export type CustomEventsListQuery = {
  /** The workspace. */
  workspace_id: string;
  /** Only events of this contact. */
  email?: string;
  /** Only events of this name. */
  event_name?: string;
  /** 1 to 1,000; 50 if absent. A page may hold fewer, since it ends at 4 MiB. */
  limit?: number;
  /** How many to leave out: 0 to 10,000. `cursor` is faster, and has no end. */
  offset?: number;
  /** `next_cursor` of the page before; empty for the first. */
  cursor?: string;
};

/** Keeps custom events, identified by name and external id within a workspace. */
export class CustomEvents {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * Creates an event, or changes it if it happened later than the one that is known. An older or
   * equally old one changes nothing, unless it is deleted or restored by it. Creates the contact if
   * there is none, except for a deleted event.
   */
  upsert(
    request: InWorkspace<types.UpsertCustomEventRequest>,
    options?: RequestOptions,
  ): Promise<types.UpsertCustomEventResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/customEvents.upsert' }, request, options);
  }

  /**
   * Creates or changes up to 1,000 events, each as `customEvents.upsert` does, with one answer per
   * row in the order of the request. Valid rows are written even if others are not. Of rows with the
   * same name and external id the one that happened last wins, and keeps the goal of those before it
   * where it has none.
   */
  import(
    request: InWorkspace<types.ImportCustomEventsRequest>,
    options?: RequestOptions,
  ): Promise<types.ImportCustomEventsResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/customEvents.import' }, request, options);
  }

  /** Reads one event. */
  get(
    request: InWorkspace<CustomEventsGetQuery>,
    options?: RequestOptions,
  ): Promise<types.GetCustomEventResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/customEvents.get' }, request, options);
  }

  /**
   * Lists the events of a contact, of a name, or both, the latest first, by pages. Deleted ones are
   * left out.
   */
  list(
    request: InWorkspace<CustomEventsListQuery> = {},
    options?: RequestOptions,
  ): Promise<types.ListCustomEventsResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/customEvents.list' }, request, options);
  }

  /** The items of all pages of `list`, each asked for as it is needed. */
  listAll(
    request: InWorkspace<Omit<CustomEventsListQuery, 'cursor'>> = {},
    options?: RequestOptions,
  ): AsyncGenerator<types.CustomEvent, void, undefined> {
    return pages(async (cursor) => {
      const answer = await this.list(
        { ...request, ...(cursor === undefined ? {} : { cursor }) },
        options,
      );
      return { items: answer.events, next: answer.next_cursor };
    });
  }
}
