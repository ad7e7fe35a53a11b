# Made from the contract by `npm run gen`.
from __future__ import annotations

import typing as t

from .._http import AsyncHttp, Http, Operation, RequestOptions
from .._typing import NotRequired, Unpack
from . import types

_GET_BY_IDS = Operation("GET", "/api/contactLists.getByIDs")
_GET_CONTACTS_BY_LIST = Operation("GET", "/api/contactLists.getContactsByList")
_GET_LISTS_BY_CONTACT = Operation("GET", "/api/contactLists.getListsByContact")
_UPDATE_STATUS = Operation("POST", "/api/contactLists.updateStatus")
_REMOVE_CONTACT = Operation("POST", "/api/contactLists.removeContact")


class ContactListsGetByIDsQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    email: str
    """The address, in any case."""

    list_id: str
    """The list."""


class ContactListsGetContactsByListQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    list_id: str
    """The list."""

    limit: NotRequired[int]
    """1 to 1,000; 1,000 if absent."""

    cursor: NotRequired[str]
    """`next_cursor` of the page before; empty for the first."""


class ContactListsGetListsByContactQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    email: str
    """The address, in any case."""


class ContactLists:
    """Reads and changes memberships."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def get_by_ids(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ContactListsGetByIDsQuery],
    ) -> types.GetContactListResponse:
        """Reads one membership."""
        answer: types.GetContactListResponse = self._http.call(_GET_BY_IDS, request, options)
        return answer

    def get_contacts_by_list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ContactListsGetContactsByListQuery],
    ) -> types.ListContactListsByListResponse:
        """Lists the memberships of a list, newest first, by pages."""
        answer: types.ListContactListsByListResponse = self._http.call(
            _GET_CONTACTS_BY_LIST, request, options
        )
        return answer

    def get_contacts_by_list_all(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ContactListsGetContactsByListQuery],
    ) -> t.Iterator[types.ContactList]:
        """The items of all pages of `get_contacts_by_list`, each page asked for as it is needed."""
        return self._http.pages(_GET_CONTACTS_BY_LIST, request, options, "contact_lists")

    def get_lists_by_contact(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ContactListsGetListsByContactQuery],
    ) -> types.ListContactListsByContactResponse:
        """Lists the memberships of a contact, by list id. At most 1,000."""
        answer: types.ListContactListsByContactResponse = self._http.call(
            _GET_LISTS_BY_CONTACT, request, options
        )
        return answer

    def update_status(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.UpdateContactListStatusRequest],
    ) -> types.UpdateContactListStatusResponse:
        """
        Gives an existing membership a status, whatever it was before; never creates one, and
        leaves the suppression list alone. `found` says whether there is such a membership.
        """
        answer: types.UpdateContactListStatusResponse = self._http.call(
            _UPDATE_STATUS, request, options
        )
        return answer

    def remove_contact(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RemoveContactFromListRequest],
    ) -> types.RemoveContactFromListResponse:
        """Ends a membership; the contact is kept."""
        answer: types.RemoveContactFromListResponse = self._http.call(
            _REMOVE_CONTACT, request, options
        )
        return answer


class AsyncContactLists:
    """Reads and changes memberships."""

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def get_by_ids(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ContactListsGetByIDsQuery],
    ) -> types.GetContactListResponse:
        """Reads one membership."""
        answer: types.GetContactListResponse = await self._http.call(_GET_BY_IDS, request, options)
        return answer

    async def get_contacts_by_list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ContactListsGetContactsByListQuery],
    ) -> types.ListContactListsByListResponse:
        """Lists the memberships of a list, newest first, by pages."""
        answer: types.ListContactListsByListResponse = await self._http.call(
            _GET_CONTACTS_BY_LIST, request, options
        )
        return answer

    def get_contacts_by_list_all(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ContactListsGetContactsByListQuery],
    ) -> t.AsyncIterator[types.ContactList]:
        """The items of all pages of `get_contacts_by_list`, each page asked for as it is needed."""
        return self._http.pages(_GET_CONTACTS_BY_LIST, request, options, "contact_lists")

    async def get_lists_by_contact(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ContactListsGetListsByContactQuery],
    ) -> types.ListContactListsByContactResponse:
        """Lists the memberships of a contact, by list id. At most 1,000."""
        answer: types.ListContactListsByContactResponse = await self._http.call(
            _GET_LISTS_BY_CONTACT, request, options
        )
        return answer

    async def update_status(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.UpdateContactListStatusRequest],
    ) -> types.UpdateContactListStatusResponse:
        """
        Gives an existing membership a status, whatever it was before; never creates one, and
        leaves the suppression list alone. `found` says whether there is such a membership.
        """
        answer: types.UpdateContactListStatusResponse = await self._http.call(
            _UPDATE_STATUS, request, options
        )
        return answer

    async def remove_contact(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RemoveContactFromListRequest],
    ) -> types.RemoveContactFromListResponse:
        """Ends a membership; the contact is kept."""
        answer: types.RemoveContactFromListResponse = await self._http.call(
            _REMOVE_CONTACT, request, options
        )
        return answer
