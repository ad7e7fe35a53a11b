// Made from the contract by `npm run gen`.
import type { Http, InWorkspace, RequestOptions } from '../http.ts';
import { pages } from '../pages.ts';
import type * as types from './types.ts';

export type ContactListsGetByIDsQuery = {
  /** The workspace. */
  workspace_id: string;
  /** The address, in any case. */
  email: string;
  /** The list. */
  list_id: string;
};

export type ContactListsGetContactsByListQuery = {
  /** The workspace. */
  workspace_id: string;
  /** The list. */
  list_id: string;
  /** 1 to 1,000; 1,000 if absent. */
  limit?: number;
  /** `next_cursor` of the page before; empty for the first. */
  cursor?: string;
};

export type ContactListsGetListsByContactQuery = {
  /** The workspace. */
  workspace_id: string;
  /** The address, in any case. */
  email: string;
};

/** Reads and changes memberships. */
export class ContactLists {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Reads one membership. */
  getByIDs(
    request: InWorkspace<ContactListsGetByIDsQuery>,
    options?: RequestOptions,
  ): Promise<types.GetContactListResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/contactLists.getByIDs' }, request, options);
  }

  /** Lists the memberships of a list, newest first, by pages. */
  getContactsByList(
    request: InWorkspace<ContactListsGetContactsByListQuery>,
    options?: RequestOptions,
  ): Promise<types.ListContactListsByListResponse> {
    return this.#http.call(
      { verb: 'GET', path: '/api/contactLists.getContactsByList' },
      request,
      options,
    );
  }

  /** The items of all pages of `getContactsByList`, each asked for as it is needed. */
  getContactsByListAll(
    request: InWorkspace<Omit<ContactListsGetContactsByListQuery, 'cursor'>>,
    options?: RequestOptions,
  ): AsyncGenerator<types.ContactList, void, undefined> {
    return pages(async (cursor) => {
      const answer = await this.getContactsByList(
        { ...request, ...(cursor === undefined ? {} : { cursor }) },
        options,
      );
      return { items: answer.contact_lists, next: answer.next_cursor };
    });
  }

  /** Lists the memberships of a contact, by list id. At most 1,000. */
  getListsByContact(
    request: InWorkspace<ContactListsGetListsByContactQuery>,
    options?: RequestOptions,
  ): Promise<types.ListContactListsByContactResponse> {
    return this.#http.call(
      { verb: 'GET', path: '/api/contactLists.getListsByContact' },
      request,
      options,
    );
  }

  /**
   * Gives an existing membership a status, whatever it was before; never creates one, and leaves the
   * suppression list alone. `found` says whether there is such a membership.
   */
  updateStatus(
    request: InWorkspace<types.UpdateContactListStatusRequest>,
    options?: RequestOptions,
  ): Promise<types.UpdateContactListStatusResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/contactLists.updateStatus' },
      request,
      options,
    );
  }

  /** Ends a membership; the contact is kept. */
  removeContact(
    request: InWorkspace<types.RemoveContactFromListRequest>,
    options?: RequestOptions,
  ): Promise<types.RemoveContactFromListResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/contactLists.removeContact' },
      request,
      options,
    );
  }
}
