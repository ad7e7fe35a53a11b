// Made from the contract by `npm run gen`.
import type { Content } from '../content.ts';
import type { CsvImportLine } from '../csv-import.ts';
import type { Http, InWorkspace, RequestOptions } from '../http.ts';
import { pages } from '../pages.ts';
import type * as types from './types.ts';

export type ContactsListQuery = {
  /** The workspace. */
  workspace_id: string;
  /** Part of the address. */
  email?: string;
  /** Part of the external id. */
  external_id?: string;
  /** Part of the first name. */
  first_name?: string;
  /** Part of the last name. */
  last_name?: string;
  /** Part of the full name. */
  full_name?: string;
  /** Part of the phone number. */
  phone?: string;
  /** Part of the country. */
  country?: string;
  /** Part of the language. */
  language?: string;
  /** Members of this list only. */
  list_id?: string;
  /** Members with this status, on the list if one is given, else on any. */
  contact_list_status?: types.MembershipStatus;
  /** Members of any of these segments. */
  segments?: Array<string>;
  /** Whether `contact_lists` is filled. */
  with_contact_lists?: boolean;
  /** 1 to 1,000; 20 if absent. A page may hold fewer, since it ends at 4 MiB. */
  limit?: number;
  /** `next_cursor` of the page before; empty for the first. */
  cursor?: string;
};

export type ContactsCountQuery = {
  /** The workspace. */
  workspace_id: string;
};

export type ContactsGetByEmailQuery = {
  /** The workspace. */
  workspace_id: string;
  /** The address, in any case. */
  email: string;
  /** Changes nothing: `contact_lists` is always filled. The node for n8n sends it. */
  with_contact_lists?: boolean;
};

export type ContactsGetByExternalIDQuery = {
  /** The workspace. */
  workspace_id: string;
  /** Your own identifier, exactly. */
  external_id: string;
  /** Changes nothing: `contact_lists` is always filled. The node for n8n sends it. */
  with_contact_lists?: boolean;
};

export type ContactsImportQuery = {
  /** With a body of `text/csv`: The workspace. */
  workspace_id?: string;
  /**
   * With a body of `text/csv`: Lists that all of them are subscribed to, but for those who have left
   * the list, or all mail, bounced or complained; at most 100.
   */
  lists?: Array<string>;
  /**
   * With a body of `text/csv`: The status of memberships that rows without one of their own get:
   * `active`, the default, or `unsubscribed`, `bounced` or `complained`, for people who have left
   * elsewhere. These end memberships as well, and a row with one is written only if a list is given
   * to keep it.
   */
  status?: types.MembershipStatus;
};

export type ContactsExportQuery = {
  /** The workspace. */
  workspace_id: string;
  /** The address, in any case. */
  email: string;
};

/** Keeps contacts, identified by their address within a workspace. */
export class Contacts {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Lists contacts, newest first, by pages. */
  list(
    request: InWorkspace<ContactsListQuery> = {},
    options?: RequestOptions,
  ): Promise<types.ListContactsResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/contacts.list' }, request, options);
  }

  /** The items of all pages of `list`, each asked for as it is needed. */
  listAll(
    request: InWorkspace<Omit<ContactsListQuery, 'cursor'>> = {},
    options?: RequestOptions,
  ): AsyncGenerator<types.Contact, void, undefined> {
    return pages(async (cursor) => {
      const answer = await this.list(
        { ...request, ...(cursor === undefined ? {} : { cursor }) },
        options,
      );
      return { items: answer.contacts, next: answer.next_cursor };
    });
  }

  /** Counts the contacts of a workspace. */
  count(
    request: InWorkspace<ContactsCountQuery> = {},
    options?: RequestOptions,
  ): Promise<types.CountContactsResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/contacts.count' }, request, options);
  }

  /** Reads a contact with its memberships and segments. */
  getByEmail(
    request: InWorkspace<ContactsGetByEmailQuery>,
    options?: RequestOptions,
  ): Promise<types.GetContactByEmailResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/contacts.getByEmail' }, request, options);
  }

  /**
   * Reads a contact by your own identifier, with its memberships and segments. Where several
   * contacts share it, any one of them.
   */
  getByExternalID(
    request: InWorkspace<ContactsGetByExternalIDQuery>,
    options?: RequestOptions,
  ): Promise<types.GetContactByExternalIDResponse> {
    return this.#http.call(
      { verb: 'GET', path: '/api/contacts.getByExternalID' },
      request,
      options,
    );
  }

  /**
   * Creates a contact or changes the given fields of an existing one. Null clears a field, an absent
   * field keeps its value.
   */
  upsert(
    request: InWorkspace<types.UpsertContactRequest>,
    options?: RequestOptions,
  ): Promise<types.UpsertContactResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/contacts.upsert' }, request, options);
  }

  /**
   * Creates or updates up to 10,000 contacts and subscribes them to lists, with one answer per row
   * in the order of the request. Valid rows are written even if others are not. Null and absent
   * fields keep their value. Rows with the same address merge as if they came one after the other:
   * the last value of each field counts. New contacts beyond the quota of the workspace are rows
   * with an error. A subscription never lifts an unsubscribe, bounce or complaint, and a row with
   * the `status` of one ends the memberships that it names.
   *
   * As `text/csv` it takes a file of any size, with `workspace_id`, `lists` (separated by commas)
   * and `status` in the query. Columns are found by the names of the fields, and by those of exports
   * of Mailchimp and listmonk; `map.Plan=custom_string_1` reads another column, `map.Tags=lists`
   * subscribes to the lists that a column names, `map.Notes=` ignores a column. The file is UTF-8,
   * its delimiter a comma, semicolon or tab; a row has up to 1 MiB, a header up to 1,000 columns and
   * 64 KiB. Empty cells keep values. Rows are written by batches, in their order. Rows that were
   * written stay when the import stops, and the whole file may be sent again. The answer is a
   * summary in JSON with the first 1,000 rows that failed. With `Accept: application/x-ndjson` it is
   * a stream of lines: `failed` for each such row, `progress` after each batch, and `summary` at the
   * end; the header (`header_bytes` of `progress`) and what follows `next_byte` are a file that goes
   * on behind that batch. With `Accept: text/csv` it is a file of the rows that failed, with `line`
   * and `reason`, which ends without an error only if it is complete. Read a stream while you send.
   * A file that brings less than 16 KiB in 10 s is a 408.
   */
  import(
    request: InWorkspace<types.ImportContactsRequest>,
    options?: RequestOptions,
  ): Promise<types.ImportContactsResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/contacts.import' }, request, options);
  }

  /**
   * `import` with a CSV file of any length in place of JSON, which is sent once: each row that
   * failed, the counts now and then, and the summary last. A time-out ends with the answer's head.
   */
  importCsv(
    query: InWorkspace<ContactsImportQuery>,
    content: Content,
    options?: RequestOptions,
  ): AsyncGenerator<CsvImportLine, void, undefined> {
    return this.#http.lines({ verb: 'POST', path: '/api/contacts.import' }, query, options, {
      content,
      type: 'text/csv',
    });
  }

  /**
   * Exports all that is kept about an address, for somebody who asks what you hold about them: one
   * JSON document, streamed. It need not belong to a contact. The document is complete if it is
   * valid JSON. Needs read access to `message_history` as well. Mentions of the person in messages
   * to others, such as copies (`cc`, `bcc`) and values, are not found; nor are running broadcasts
   * that have not reached the address yet.
   *
   * The kinds of records, in this order: `contact`; `list` (a membership, also a removed one),
   * `segment`, `opt_out` (from all mail), `refusal` (what a deleted contact had left, of which no
   * address is kept), `custom_event` (deleted ones as well), `timeline_entry`; `suppression`,
   * `confirmation` (the last mail that asked to confirm a list), `message` (with its values, opens
   * and clicks, and its `content` if that is kept); `webhook_delivery`.
   *
   * gRPC callers get a page, and ask for the next one with its `next_cursor`.
   */
  export(
    request: InWorkspace<ContactsExportQuery>,
    options?: RequestOptions,
  ): Promise<{
    /** Records of a kind follow each other. */
    records: Array<types.ExportedRecord>;
  }> {
    return this.#http.call({ verb: 'GET', path: '/api/contacts.export' }, request, options);
  }

  /**
   * Permanently deletes a contact with its memberships, custom events and timeline. Its messages
   * lose the address, their values, files and contents; waiting ones are not sent; times and counts
   * stay. Webhook deliveries about it are deleted within an hour or once they are done, after a day
   * at the latest.
   *
   * Two things stay, as they protect the person: a suppression of the address, without its note,
   * until `suppressions.remove`; and the lists that it had left, by a keyed hash of the address, so
   * that it is not subscribed again by the next import. Links in mails that were sent do nothing.
   *
   * A later import, or other call that names the address, adds the person again, and mails reach
   * them unless they had left. To prevent it, add the address to `suppressions.add` first: no mail
   * goes to it then, whoever adds it again.
   */
  delete(
    request: InWorkspace<types.DeleteContactRequest>,
    options?: RequestOptions,
  ): Promise<types.DeleteContactResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/contacts.delete' }, request, options);
  }
}
