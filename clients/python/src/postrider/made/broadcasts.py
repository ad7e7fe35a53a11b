# Made from the contract by `npm run gen`.
from __future__ import annotations

import typing as t

from .._http import AsyncHttp, Http, Operation, RequestOptions
from .._typing import NotRequired, Unpack
from . import types

_LIST = Operation("GET", "/api/broadcasts.list")
_GET = Operation("GET", "/api/broadcasts.get")
_ESTIMATE_AUDIENCE = Operation("POST", "/api/broadcasts.estimateAudience")
_CREATE = Operation("POST", "/api/broadcasts.create", keyed=True)
_DUPLICATE = Operation("POST", "/api/broadcasts.duplicate", keyed=True)
_UPDATE = Operation("POST", "/api/broadcasts.update")
_REFRESH_GLOBAL_FEED = Operation("POST", "/api/broadcasts.refreshGlobalFeed")
_TEST_RECIPIENT_FEED = Operation("POST", "/api/broadcasts.testRecipientFeed")
_SEND_TO_INDIVIDUAL = Operation("POST", "/api/broadcasts.sendToIndividual")
_SCHEDULE = Operation("POST", "/api/broadcasts.schedule")
_PAUSE = Operation("POST", "/api/broadcasts.pause")
_RESUME = Operation("POST", "/api/broadcasts.resume")
_CANCEL = Operation("POST", "/api/broadcasts.cancel")
_SELECT_WINNER = Operation("POST", "/api/broadcasts.selectWinner")
_GET_TEST_RESULTS = Operation("GET", "/api/broadcasts.getTestResults")
_DELETE = Operation("POST", "/api/broadcasts.delete")


class BroadcastsListQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    status: NotRequired[types.BroadcastStatus]
    """Only this status."""

    limit: NotRequired[int]
    """
    1 to 1,000; 50 if absent. With templates a page has at most 100; `total_count` says how many
    there are.
    """

    offset: NotRequired[int]
    """How many to skip."""

    with_templates: NotRequired[bool]
    """Whether variations come with their templates."""


class BroadcastsGetQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The broadcast."""

    with_templates: NotRequired[bool]
    """Whether variations come with their templates."""


class BroadcastsGetTestResultsQuery(t.TypedDict):
    workspace_id: NotRequired[str]
    """The workspace."""

    id: str
    """The broadcast."""


class Broadcasts:
    """
    Keeps broadcasts and moves them through their states. The workflow `broadcastLifecycle`, which
    every change wakes, does the work.
    """

    def __init__(self, http: Http) -> None:
        self._http = http

    def list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[BroadcastsListQuery],
    ) -> types.ListBroadcastsResponse:
        """Lists broadcasts, newest first."""
        answer: types.ListBroadcastsResponse = self._http.call(_LIST, request, options)
        return answer

    def get(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[BroadcastsGetQuery],
    ) -> types.GetBroadcastResponse:
        """Reads one broadcast."""
        answer: types.GetBroadcastResponse = self._http.call(_GET, request, options)
        return answer

    def estimate_audience(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.EstimateAudienceRequest],
    ) -> types.EstimateAudienceResponse:
        """
        Says how many a broadcast to this audience would go to now. Addresses that are suppressed
        are counted; they are skipped when it is sent. With `audience.not_opened_of` the whole
        audience is read, as at the freeze: about 50,000 contacts a second, for at most 20 seconds.
        """
        answer: types.EstimateAudienceResponse = self._http.call(
            _ESTIMATE_AUDIENCE, request, options
        )
        return answer

    def create(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.CreateBroadcastRequest],
    ) -> types.CreateBroadcastResponse:
        """Creates a draft."""
        answer: types.CreateBroadcastResponse = self._http.call(_CREATE, request, options)
        return answer

    def duplicate(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.DuplicateBroadcastRequest],
    ) -> types.DuplicateBroadcastResponse:
        """
        Copies a broadcast of any state into a new draft: its audience, content, test, UTM values,
        metadata, feeds with their headers, and integration. Its schedule, numbers, winner and the
        kept answer of its global feed stay behind.
        """
        answer: types.DuplicateBroadcastResponse = self._http.call(_DUPLICATE, request, options)
        return answer

    def update(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.UpdateBroadcastRequest],
    ) -> types.UpdateBroadcastResponse:
        """
        Replaces a broadcast that is a draft, scheduled, or paused before the first recipients were
        read. A new schedule moves the start of a scheduled one; no update sends it at once. A
        scheduled or paused broadcast must stay valid for `schedule`. If the winner is no longer
        one of the variations, it is chosen again.
        """
        answer: types.UpdateBroadcastResponse = self._http.call(_UPDATE, request, options)
        return answer

    def refresh_global_feed(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RefreshGlobalFeedRequest],
    ) -> types.RefreshGlobalFeedResponse:
        """
        Calls a global feed now and returns its answer. Until the broadcast's first recipients are
        read, the answer is kept as its `global_feed_data`. When sending starts, the feed is called
        once more and that answer is pinned: every recipient gets the same data, also both phases
        of an A/B test. From then on this operation keeps nothing. If the feed fails, `success` is
        false.
        """
        answer: types.RefreshGlobalFeedResponse = self._http.call(
            _REFRESH_GLOBAL_FEED, request, options
        )
        return answer

    def test_recipient_feed(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.TestRecipientFeedRequest],
    ) -> types.TestRecipientFeedResponse:
        """
        Calls a recipient feed for one contact and returns its answer; nothing is kept. If the feed
        fails, `success` is false.
        """
        answer: types.TestRecipientFeedResponse = self._http.call(
            _TEST_RECIPIENT_FEED, request, options
        )
        return answer

    def send_to_individual(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.SendToIndividualRequest],
    ) -> types.SendToIndividualResponse:
        """
        Sends the broadcast to one address as a test, in any state of the broadcast: with the
        newest template while it is a draft, and with the pinned one once it has started. The
        address need not belong to a contact; an unsubscribed address may be sent to, one that
        bounced or complained may not. Answers when the provider has accepted the message. The
        message is in the message history, but in no count of the broadcast.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.SendToIndividualResponse = self._http.call(
            _SEND_TO_INDIVIDUAL, request, options
        )
        return answer

    def schedule(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.ScheduleBroadcastRequest],
    ) -> types.ScheduleBroadcastResponse:
        """
        Schedules a draft, or sends it now. A time up to an hour ago starts it at once. Its
        templates cannot be deleted until it is over.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.ScheduleBroadcastResponse = self._http.call(_SCHEDULE, request, options)
        return answer

    def pause(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.PauseBroadcastRequest],
    ) -> types.PauseBroadcastResponse:
        """
        Pauses a broadcast that is scheduled or being sent, within a second. A broadcast that the
        system has paused, such as for an outage, stays paused with its reason and is no longer
        resumed automatically.
        """
        answer: types.PauseBroadcastResponse = self._http.call(_PAUSE, request, options)
        return answer

    def resume(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.ResumeBroadcastRequest],
    ) -> types.ResumeBroadcastResponse:
        """
        Resumes a paused broadcast: it returns to its schedule if that is in the future, else
        sending continues with its current settings, such as an A/B test that was switched on or
        off while it was paused. Nobody is sent to twice. The rest is sent through the marketing
        provider that the workspace's settings name now, at its present rate; the answer says which
        one. If they name none, the one it began with is kept. If it was paused because too many
        messages could not be rendered, those recipients have failed and are not retried, and the
        rest is sent whatever fails: contacts and the recipient feed are read again, the template
        stays pinned.
        """
        answer: types.ResumeBroadcastResponse = self._http.call(_RESUME, request, options)
        return answer

    def cancel(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.CancelBroadcastRequest],
    ) -> types.CancelBroadcastResponse:
        """
        Cancels a broadcast that is scheduled, paused or being sent. Messages that are being handed
        to the provider at that moment are still sent; the counts include them as soon as the
        provider has answered.
        """
        answer: types.CancelBroadcastResponse = self._http.call(_CANCEL, request, options)
        return answer

    def select_winner(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.SelectWinnerRequest],
    ) -> types.SelectWinnerResponse:
        """
        Chooses the variation for all remaining recipients, during the test or after it. A
        broadcast that was paused in its test stays paused.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.SelectWinnerResponse = self._http.call(_SELECT_WINNER, request, options)
        return answer

    def get_test_results(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[BroadcastsGetTestResultsQuery],
    ) -> types.GetTestResultsResponse:
        """
        Reads the results of each variation of a test, the recommended winner, and how the winner
        was chosen. Opens and clicks by programs don't count.
        """
        answer: types.GetTestResultsResponse = self._http.call(_GET_TEST_RESULTS, request, options)
        return answer

    def delete(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.DeleteBroadcastRequest],
    ) -> types.DeleteBroadcastResponse:
        """
        Deletes a broadcast that is a draft, scheduled, ended, or paused before anything was sent.
        The history of its messages stays.
        """
        answer: types.DeleteBroadcastResponse = self._http.call(_DELETE, request, options)
        return answer


class AsyncBroadcasts:
    """
    Keeps broadcasts and moves them through their states. The workflow `broadcastLifecycle`, which
    every change wakes, does the work.
    """

    def __init__(self, http: AsyncHttp) -> None:
        self._http = http

    async def list(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[BroadcastsListQuery],
    ) -> types.ListBroadcastsResponse:
        """Lists broadcasts, newest first."""
        answer: types.ListBroadcastsResponse = await self._http.call(_LIST, request, options)
        return answer

    async def get(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[BroadcastsGetQuery],
    ) -> types.GetBroadcastResponse:
        """Reads one broadcast."""
        answer: types.GetBroadcastResponse = await self._http.call(_GET, request, options)
        return answer

    async def estimate_audience(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.EstimateAudienceRequest],
    ) -> types.EstimateAudienceResponse:
        """
        Says how many a broadcast to this audience would go to now. Addresses that are suppressed
        are counted; they are skipped when it is sent. With `audience.not_opened_of` the whole
        audience is read, as at the freeze: about 50,000 contacts a second, for at most 20 seconds.
        """
        answer: types.EstimateAudienceResponse = await self._http.call(
            _ESTIMATE_AUDIENCE, request, options
        )
        return answer

    async def create(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.CreateBroadcastRequest],
    ) -> types.CreateBroadcastResponse:
        """Creates a draft."""
        answer: types.CreateBroadcastResponse = await self._http.call(_CREATE, request, options)
        return answer

    async def duplicate(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.DuplicateBroadcastRequest],
    ) -> types.DuplicateBroadcastResponse:
        """
        Copies a broadcast of any state into a new draft: its audience, content, test, UTM values,
        metadata, feeds with their headers, and integration. Its schedule, numbers, winner and the
        kept answer of its global feed stay behind.
        """
        answer: types.DuplicateBroadcastResponse = await self._http.call(
            _DUPLICATE, request, options
        )
        return answer

    async def update(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.UpdateBroadcastRequest],
    ) -> types.UpdateBroadcastResponse:
        """
        Replaces a broadcast that is a draft, scheduled, or paused before the first recipients were
        read. A new schedule moves the start of a scheduled one; no update sends it at once. A
        scheduled or paused broadcast must stay valid for `schedule`. If the winner is no longer
        one of the variations, it is chosen again.
        """
        answer: types.UpdateBroadcastResponse = await self._http.call(_UPDATE, request, options)
        return answer

    async def refresh_global_feed(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.RefreshGlobalFeedRequest],
    ) -> types.RefreshGlobalFeedResponse:
        """
        Calls a global feed now and returns its answer. Until the broadcast's first recipients are
        read, the answer is kept as its `global_feed_data`. When sending starts, the feed is called
        once more and that answer is pinned: every recipient gets the same data, also both phases
        of an A/B test. From then on this operation keeps nothing. If the feed fails, `success` is
        false.
        """
        answer: types.RefreshGlobalFeedResponse = await self._http.call(
            _REFRESH_GLOBAL_FEED, request, options
        )
        return answer

    async def test_recipient_feed(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.TestRecipientFeedRequest],
    ) -> types.TestRecipientFeedResponse:
        """
        Calls a recipient feed for one contact and returns its answer; nothing is kept. If the feed
        fails, `success` is false.
        """
        answer: types.TestRecipientFeedResponse = await self._http.call(
            _TEST_RECIPIENT_FEED, request, options
        )
        return answer

    async def send_to_individual(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.SendToIndividualRequest],
    ) -> types.SendToIndividualResponse:
        """
        Sends the broadcast to one address as a test, in any state of the broadcast: with the
        newest template while it is a draft, and with the pinned one once it has started. The
        address need not belong to a contact; an unsubscribed address may be sent to, one that
        bounced or complained may not. Answers when the provider has accepted the message. The
        message is in the message history, but in no count of the broadcast.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.SendToIndividualResponse = await self._http.call(
            _SEND_TO_INDIVIDUAL, request, options
        )
        return answer

    async def schedule(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.ScheduleBroadcastRequest],
    ) -> types.ScheduleBroadcastResponse:
        """
        Schedules a draft, or sends it now. A time up to an hour ago starts it at once. Its
        templates cannot be deleted until it is over.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.ScheduleBroadcastResponse = await self._http.call(_SCHEDULE, request, options)
        return answer

    async def pause(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.PauseBroadcastRequest],
    ) -> types.PauseBroadcastResponse:
        """
        Pauses a broadcast that is scheduled or being sent, within a second. A broadcast that the
        system has paused, such as for an outage, stays paused with its reason and is no longer
        resumed automatically.
        """
        answer: types.PauseBroadcastResponse = await self._http.call(_PAUSE, request, options)
        return answer

    async def resume(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.ResumeBroadcastRequest],
    ) -> types.ResumeBroadcastResponse:
        """
        Resumes a paused broadcast: it returns to its schedule if that is in the future, else
        sending continues with its current settings, such as an A/B test that was switched on or
        off while it was paused. Nobody is sent to twice. The rest is sent through the marketing
        provider that the workspace's settings name now, at its present rate; the answer says which
        one. If they name none, the one it began with is kept. If it was paused because too many
        messages could not be rendered, those recipients have failed and are not retried, and the
        rest is sent whatever fails: contacts and the recipient feed are read again, the template
        stays pinned.
        """
        answer: types.ResumeBroadcastResponse = await self._http.call(_RESUME, request, options)
        return answer

    async def cancel(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.CancelBroadcastRequest],
    ) -> types.CancelBroadcastResponse:
        """
        Cancels a broadcast that is scheduled, paused or being sent. Messages that are being handed
        to the provider at that moment are still sent; the counts include them as soon as the
        provider has answered.
        """
        answer: types.CancelBroadcastResponse = await self._http.call(_CANCEL, request, options)
        return answer

    async def select_winner(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.SelectWinnerRequest],
    ) -> types.SelectWinnerResponse:
        """
        Chooses the variation for all remaining recipients, during the test or after it. A
        broadcast that was paused in its test stays paused.

        Installations with `DEMO_MODE=true` refuse it with a 400.
        """
        answer: types.SelectWinnerResponse = await self._http.call(_SELECT_WINNER, request, options)
        return answer

    async def get_test_results(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[BroadcastsGetTestResultsQuery],
    ) -> types.GetTestResultsResponse:
        """
        Reads the results of each variation of a test, the recommended winner, and how the winner
        was chosen. Opens and clicks by programs don't count.
        """
        answer: types.GetTestResultsResponse = await self._http.call(
            _GET_TEST_RESULTS, request, options
        )
        return answer

    async def delete(
        self,
        *,
        options: t.Optional[RequestOptions] = None,
        **request: Unpack[types.DeleteBroadcastRequest],
    ) -> types.DeleteBroadcastResponse:
        """
        Deletes a broadcast that is a draft, scheduled, ended, or paused before anything was sent.
        The history of its messages stays.
        """
        answer: types.DeleteBroadcastResponse = await self._http.call(_DELETE, request, options)
        return answer
