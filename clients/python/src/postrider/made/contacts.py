# Made from the contract by `npm run gen`.
from __future__ import annotations

import typing as t

from .._http import AsyncHttp, Http, Operation, RequestOptions
from .._typing import NotRequired, Unpack
from ..csv_import import AsyncContent, Content, CsvImportSummary
from . import types

_LIST = Operation("GET", "/api/contacts.list")
_COUNT = Operation("GET", "/api/contacts.count")
_GET_BY_EMAIL = Operation("GET", "/api/contacts.getByEmail")
_GET_BY_EXTERNAL_ID = Operation("GET", "/api/contacts.getByExternalID")
_UPSERT = Operation("POST", "/api/contacts.upsert")
_IMPORT = Operation("POST", "/api/contacts.import")
_EXPORT = Operation("GET", "/api/contacts.export")
_DELETE = Operation("POST", "/api/contacts.delete")


class ContactsListQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    email: NotRequired[str]
    """Part of the address."""

    external_id: NotRequired[str]
    """Part of the external id."""

    first_name: NotRequired[str]
    """Part of the first name."""

    last_name: NotRequired[str]
    """Part of the last name."""

    full_name: NotRequired[str]
    """Part of the full name."""

    phone: NotRequired[str]
    """Part of the phone number."""

    country: NotRequired[str]
    """Part of the country."""

    language: NotRequired[str]
    """Part of the language."""

    list_id: NotRequired[str]
    """Members of this list only."""

    contact_list_status: NotRequired[types.MembershipStatus]
    """Members with this status, on the list if one is given, else on any."""

    segments: NotRequired[t.List[str]]
    """Members of any of these segments."""

    with_contact_lists: NotRequired[bool]
    """Whether `contact_lists` is filled."""

    limit: NotRequired[int]
    """1 to 1,000; 20 if absent. A page may hold fewer, since it ends at 4 MiB."""

    cursor: NotRequired[str]
    """`next_cursor` of the page before; empty for the first."""


class ContactsCountQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""


class ContactsGetByEmailQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    email: str
    """The address, in any case."""

    with_contact_lists: NotRequired[bool]
    """Changes nothing: `contact_lists` is always filled. The node for n8n sends it."""


class ContactsGetByExternalIDQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    external_id: str
    """Your own identifier, exactly."""

    with_contact_lists: NotRequired[bool]
    """Changes nothing: `contact_lists` is always filled. The node for n8n sends it."""


class ContactsImportQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """With a body of `text/csv`: The workspace."""

    lists: NotRequired[t.List[str]]
    """
    With a body of `text/csv`: Lists that all of them are subscribed to, but for those who have
    left the list, or all mail, bounced or complained; at most 100.
    """

    status: NotRequired[types.MembershipStatus]
    """
    With a body of `text/csv`: The status of memberships that rows without one of their own get:
    `active`, the default, or `unsubscribed`, `bounced` or `complained`, for people who have left
    elsewhere. These end memberships as well, and a row with one is written only if a list is given
    to keep it.
    """


class ContactsExportQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    email: str
    """The address, in any case."""


class ContactsExportAnswer(t.TypedDict):
    records: t.List[types.ExportedRecord]
    """Records of a kind follow each other."""


class Contacts:
    """Keeps contacts, identified by their address within a workspace."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ContactsListQuery],
    ) -> types.ListContactsResponse:
        """Lists contacts, newest first, by pages."""
        answer: types.ListContactsResponse = self._http.call(_LIST, request, options)
        return answer

    def list_all(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ContactsListQuery],
    ) -> t.Iterator[types.Contact]:
        """The items of all pages of `list`, each page asked for as it is needed."""
        return self._http.pages(_LIST, request, options, "contacts")

    def count(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ContactsCountQuery],
    ) -> types.CountContactsResponse:
        """Counts the contacts of a workspace."""
        answer: types.CountContactsResponse = self._http.call(_COUNT, request, options)
        return answer

    def get_by_email(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ContactsGetByEmailQuery],
    ) -> types.GetContactByEmailResponse:
        """Reads a contact with its memberships and segments."""
        answer: types.GetContactByEmailResponse = self._http.call(_GET_BY_EMAIL, request, options)
        return answer

    def get_by_external_id(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ContactsGetByExternalIDQuery],
    ) -> types.GetContactByExternalIDResponse:
        """
        Reads a contact by your own identifier, with its memberships and segments. Where several
        contacts share it, any one of them.
        """
        answer: types.GetContactByExternalIDResponse = self._http.call(
            _GET_BY_EXTERNAL_ID, request, options
        )
        return answer

    def upsert(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.UpsertContactRequest],
    ) -> types.UpsertContactResponse:
        """
        Creates a contact or changes the given fields of an existing one. Null clears a field, an
        absent field keeps its value.
        """
        answer: types.UpsertContactResponse = self._http.call(_UPSERT, request, options)
        return answer

    def import_(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.ImportContactsRequest],
    ) -> types.ImportContactsResponse:
        """
        Creates or updates up to 10,000 contacts and subscribes them to lists, with one answer per
        row in the order of the request. Valid rows are written even if others are not. Null and
        absent fields keep their value. Rows with the same address merge as if they came one after
        the other: the last value of each field counts. New contacts beyond the quota of the
        workspace are rows with an error. A subscription never lifts an unsubscribe, bounce or
        complaint, and a row with the `status` of one ends the memberships that it names.

        As `text/csv` it takes a file of any size, with `workspace_id`, `lists` (separated by
        commas) and `status` in the query. Columns are found by the names of the fields, and by
        those of exports of Mailchimp and listmonk; `map.Plan=custom_string_1` reads another
        column, `map.Tags=lists` subscribes to the lists that a column names, `map.Notes=` ignores
        a column. The file is UTF-8, its delimiter a comma, semicolon or tab; a row has up to 1
        MiB, a header up to 1,000 columns and 64 KiB. Empty cells keep values. Rows are written by
        batches, in their order. Rows that were written stay when the import stops, and the whole
        file may be sent again. The answer is a summary in JSON with the first 1,000 rows that
        failed. With `Accept: application/x-ndjson` it is a stream of lines: `failed` for each such
        row, `progress` after each batch, and `summary` at the end; the header (`header_bytes` of
        `progress`) and what follows `next_byte` are a file that goes on behind that batch. With
        `Accept: text/csv` it is a file of the rows that failed, with `line` and `reason`, which
        ends without an error only if it is complete. Read a stream while you send. A file that
        brings less than 16 KiB in 10 s is a 408.
        """
        answer: types.ImportContactsResponse = self._http.call(_IMPORT, request, options)
        return answer

    def import_csv(
        self,
        content: Content,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ContactsImportQuery],
    ) -> CsvImportSummary:
        """
        `import_` with a CSV file of any length in place of JSON, which is sent once. `map.Plan`
        and other names that are none of Python are given as `**{"map.Plan": "custom_string_1"}`.
        """
        answer: CsvImportSummary = self._http.send_file(_IMPORT, request, options, content)
        return answer

    def export(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ContactsExportQuery],
    ) -> ContactsExportAnswer:
        """
        Exports all that is kept about an address, for somebody who asks what you hold about them:
        one JSON document, streamed. It need not belong to a contact. The document is complete if
        it is valid JSON. Needs read access to `message_history` as well. Mentions of the person in
        messages to others, such as copies (`cc`, `bcc`) and values, are not found; nor are running
        broadcasts that have not reached the address yet.

        The kinds of records, in this order: `contact`; `list` (a membership, also a removed one),
        `segment`, `opt_out` (from all mail), `refusal` (what a deleted contact had left, of which
        no address is kept), `custom_event` (deleted ones as well), `timeline_entry`;
        `suppression`, `confirmation` (the last mail that asked to confirm a list), `message` (with
        its values, opens and clicks, and its `content` if that is kept); `webhook_delivery`.

        gRPC callers get a page, and ask for the next one with its `next_cursor`.
        """
        answer: ContactsExportAnswer = self._http.call(_EXPORT, request, options)
        return answer

    def delete(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.DeleteContactRequest],
    ) -> types.DeleteContactResponse:
        """
        Permanently deletes a contact with its memberships, custom events and timeline. Its
        messages lose the address, their values, files and contents; waiting ones are not sent;
        times and counts stay. Webhook deliveries about it are deleted within an hour or once they
        are done, after a day at the latest.

        Two things stay, as they protect the person: a suppression of the address, without its
        note, until `suppressions.remove`; and the lists that it had left, by a keyed hash of the
        address, so that it is not subscribed again by the next import. Links in mails that were
        sent do nothing.

        A later import, or other call that names the address, adds the person again, and mails
        reach them unless they had left. To prevent it, add the address to `suppressions.add`
        first: no mail goes to it then, whoever adds it again.
        """
        answer: types.DeleteContactResponse = self._http.call(_DELETE, request, options)
        return answer


class AsyncContacts:
    """Keeps contacts, identified by their address within a workspace."""

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ContactsListQuery],
    ) -> types.ListContactsResponse:
        """Lists contacts, newest first, by pages."""
        answer: types.ListContactsResponse = await self._http.call(_LIST, request, options)
        return answer

    def list_all(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ContactsListQuery],
    ) -> t.AsyncIterator[types.Contact]:
        """The items of all pages of `list`, each page asked for as it is needed."""
        return self._http.pages(_LIST, request, options, "contacts")

    async def count(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ContactsCountQuery],
    ) -> types.CountContactsResponse:
        """Counts the contacts of a workspace."""
        answer: types.CountContactsResponse = await self._http.call(_COUNT, request, options)
        return answer

    async def get_by_email(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ContactsGetByEmailQuery],
    ) -> types.GetContactByEmailResponse:
        """Reads a contact with its memberships and segments."""
        answer: types.GetContactByEmailResponse = await self._http.call(
            _GET_BY_EMAIL, request, options
        )
        return answer

    async def get_by_external_id(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ContactsGetByExternalIDQuery],
    ) -> types.GetContactByExternalIDResponse:
        """
        Reads a contact by your own identifier, with its memberships and segments. Where several
        contacts share it, any one of them.
        """
        answer: types.GetContactByExternalIDResponse = await self._http.call(
            _GET_BY_EXTERNAL_ID, request, options
        )
        return answer

    async def upsert(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.UpsertContactRequest],
    ) -> types.UpsertContactResponse:
        """
        Creates a contact or changes the given fields of an existing one. Null clears a field, an
        absent field keeps its value.
        """
        answer: types.UpsertContactResponse = await self._http.call(_UPSERT, request, options)
        return answer

    async def import_(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.ImportContactsRequest],
    ) -> types.ImportContactsResponse:
        """
        Creates or updates up to 10,000 contacts and subscribes them to lists, with one answer per
        row in the order of the request. Valid rows are written even if others are not. Null and
        absent fields keep their value. Rows with the same address merge as if they came one after
        the other: the last value of each field counts. New contacts beyond the quota of the
        workspace are rows with an error. A subscription never lifts an unsubscribe, bounce or
        complaint, and a row with the `status` of one ends the memberships that it names.

        As `text/csv` it takes a file of any size, with `workspace_id`, `lists` (separated by
        commas) and `status` in the query. Columns are found by the names of the fields, and by
        those of exports of Mailchimp and listmonk; `map.Plan=custom_string_1` reads another
        column, `map.Tags=lists` subscribes to the lists that a column names, `map.Notes=` ignores
        a column. The file is UTF-8, its delimiter a comma, semicolon or tab; a row has up to 1
        MiB, a header up to 1,000 columns and 64 KiB. Empty cells keep values. Rows are written by
        batches, in their order. Rows that were written stay when the import stops, and the whole
        file may be sent again. The answer is a summary in JSON with the first 1,000 rows that
        failed. With `Accept: application/x-ndjson` it is a stream of lines: `failed` for each such
        row, `progress` after each batch, and `summary` at the end; the header (`header_bytes` of
        `progress`) and what follows `next_byte` are a file that goes on behind that batch. With
        `Accept: text/csv` it is a file of the rows that failed, with `line` and `reason`, which
        ends without an error only if it is complete. Read a stream while you send. A file that
        brings less than 16 KiB in 10 s is a 408.
        """
        answer: types.ImportContactsResponse = await self._http.call(_IMPORT, request, options)
        return answer

    async def import_csv(
        self,
        content: AsyncContent,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ContactsImportQuery],
    ) -> CsvImportSummary:
        """
        `import_` with a CSV file of any length in place of JSON, which is sent once. `map.Plan`
        and other names that are none of Python are given as `**{"map.Plan": "custom_string_1"}`.
        """
        answer: CsvImportSummary = await self._http.send_file(_IMPORT, request, options, content)
        return answer

    async def export(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[ContactsExportQuery],
    ) -> ContactsExportAnswer:
        """
        Exports all that is kept about an address, for somebody who asks what you hold about them:
        one JSON document, streamed. It need not belong to a contact. The document is complete if
        it is valid JSON. Needs read access to `message_history` as well. Mentions of the person in
        messages to others, such as copies (`cc`, `bcc`) and values, are not found; nor are running
        broadcasts that have not reached the address yet.

        The kinds of records, in this order: `contact`; `list` (a membership, also a removed one),
        `segment`, `opt_out` (from all mail), `refusal` (what a deleted contact had left, of which
        no address is kept), `custom_event` (deleted ones as well), `timeline_entry`;
        `suppression`, `confirmation` (the last mail that asked to confirm a list), `message` (with
        its values, opens and clicks, and its `content` if that is kept); `webhook_delivery`.

        gRPC callers get a page, and ask for the next one with its `next_cursor`.
        """
        answer: ContactsExportAnswer = await self._http.call(_EXPORT, request, options)
        return answer

    async def delete(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.DeleteContactRequest],
    ) -> types.DeleteContactResponse:
        """
        Permanently deletes a contact with its memberships, custom events and timeline. Its
        messages lose the address, their values, files and contents; waiting ones are not sent;
        times and counts stay. Webhook deliveries about it are deleted within an hour or once they
        are done, after a day at the latest.

        Two things stay, as they protect the person: a suppression of the address, without its
        note, until `suppressions.remove`; and the lists that it had left, by a keyed hash of the
        address, so that it is not subscribed again by the next import. Links in mails that were
        sent do nothing.

        A later import, or other call that names the address, adds the person again, and mails
        reach them unless they had left. To prevent it, add the address to `suppressions.add`
        first: no mail goes to it then, whoever adds it again.
        """
        answer: types.DeleteContactResponse = await self._http.call(_DELETE, request, options)
        return answer
