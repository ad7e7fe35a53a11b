// Made from the contract by `npm run gen`.
import type { Http, InWorkspace, RequestOptions } from '../http.ts';
import type * as types from './types.ts';

export type BroadcastsListQuery = {
  /** The workspace. */
  workspace_id: string;
  /** Only this status. */
  status?: types.BroadcastStatus;
  /**
   * 1 to 1,000; 50 if absent. With templates a page has at most 100; `total_count` says how many
   * there are.
   */
  limit?: number;
  /** How many to skip. */
  offset?: number;
  /** Whether variations come with their templates. */
  with_templates?: boolean;
};

export type BroadcastsGetQuery = {
  /** The workspace. */
  workspace_id: string;
  /** The broadcast. */
  id: string;
  /** Whether variations come with their templates. */
  with_templates?: boolean;
};

export type BroadcastsGetTestResultsQuery = {
  /** The workspace. */
  workspace_id: string;
  /** The broadcast. */
  id: string;
};

/**
 * Keeps broadcasts and moves them through their states. The workflow `broadcastLifecycle`, which
 * every change wakes, does the work.
 */
export class Broadcasts {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Lists broadcasts, newest first. */
  list(
    request: InWorkspace<BroadcastsListQuery> = {},
    options?: RequestOptions,
  ): Promise<types.ListBroadcastsResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/broadcasts.list' }, request, options);
  }

  /** Reads one broadcast. */
  get(
    request: InWorkspace<BroadcastsGetQuery>,
    options?: RequestOptions,
  ): Promise<types.GetBroadcastResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/broadcasts.get' }, request, options);
  }

  /**
   * Says how many a broadcast to this audience would go to now. Addresses that are suppressed are
   * counted; they are skipped when it is sent. With `audience.not_opened_of` the whole audience is
   * read, as at the freeze: about 50,000 contacts a second, for at most 20 seconds.
   */
  estimateAudience(
    request: InWorkspace<types.EstimateAudienceRequest>,
    options?: RequestOptions,
  ): Promise<types.EstimateAudienceResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/broadcasts.estimateAudience' },
      request,
      options,
    );
  }

  /** Creates a draft. */
  create(
    request: InWorkspace<types.CreateBroadcastRequest>,
    options?: RequestOptions,
  ): Promise<types.CreateBroadcastResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/broadcasts.create', keyed: true },
      request,
      options,
    );
  }

  /**
   * Copies a broadcast of any state into a new draft: its audience, content, test, UTM values,
   * metadata, feeds with their headers, and integration. Its schedule, numbers, winner and the kept
   * answer of its global feed stay behind.
   */
  duplicate(
    request: InWorkspace<types.DuplicateBroadcastRequest>,
    options?: RequestOptions,
  ): Promise<types.DuplicateBroadcastResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/broadcasts.duplicate', keyed: true },
      request,
      options,
    );
  }

  /**
   * Replaces a broadcast that is a draft, scheduled, or paused before the first recipients were
   * read. A new schedule moves the start of a scheduled one; no update sends it at once. A scheduled
   * or paused broadcast must stay valid for `schedule`. If the winner is no longer one of the
   * variations, it is chosen again.
   */
  update(
    request: InWorkspace<types.UpdateBroadcastRequest>,
    options?: RequestOptions,
  ): Promise<types.UpdateBroadcastResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/broadcasts.update' }, request, options);
  }

  /**
   * Calls a global feed now and returns its answer. Until the broadcast's first recipients are read,
   * the answer is kept as its `global_feed_data`. When sending starts, the feed is called once more
   * and that answer is pinned: every recipient gets the same data, also both phases of an A/B test.
   * From then on this operation keeps nothing. If the feed fails, `success` is false.
   */
  refreshGlobalFeed(
    request: InWorkspace<types.RefreshGlobalFeedRequest>,
    options?: RequestOptions,
  ): Promise<types.RefreshGlobalFeedResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/broadcasts.refreshGlobalFeed' },
      request,
      options,
    );
  }

  /**
   * Calls a recipient feed for one contact and returns its answer; nothing is kept. If the feed
   * fails, `success` is false.
   */
  testRecipientFeed(
    request: InWorkspace<types.TestRecipientFeedRequest>,
    options?: RequestOptions,
  ): Promise<types.TestRecipientFeedResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/broadcasts.testRecipientFeed' },
      request,
      options,
    );
  }

  /**
   * Sends the broadcast to one address as a test, in any state of the broadcast: with the newest
   * template while it is a draft, and with the pinned one once it has started. The address need not
   * belong to a contact; an unsubscribed address may be sent to, one that bounced or complained may
   * not. Answers when the provider has accepted the message. The message is in the message history,
   * but in no count of the broadcast.
   *
   * Installations with `DEMO_MODE=true` refuse it with a 400.
   */
  sendToIndividual(
    request: InWorkspace<types.SendToIndividualRequest>,
    options?: RequestOptions,
  ): Promise<types.SendToIndividualResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/broadcasts.sendToIndividual' },
      request,
      options,
    );
  }

  /**
   * Schedules a draft, or sends it now. A time up to an hour ago starts it at once. Its templates
   * cannot be deleted until it is over.
   *
   * Installations with `DEMO_MODE=true` refuse it with a 400.
   */
  schedule(
    request: InWorkspace<types.ScheduleBroadcastRequest>,
    options?: RequestOptions,
  ): Promise<types.ScheduleBroadcastResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/broadcasts.schedule' }, request, options);
  }

  /**
   * Pauses a broadcast that is scheduled or being sent, within a second. A broadcast that the system
   * has paused, such as for an outage, stays paused with its reason and is no longer resumed
   * automatically.
   */
  pause(
    request: InWorkspace<types.PauseBroadcastRequest>,
    options?: RequestOptions,
  ): Promise<types.PauseBroadcastResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/broadcasts.pause' }, request, options);
  }

  /**
   * Resumes a paused broadcast: it returns to its schedule if that is in the future, else sending
   * continues with its current settings, such as an A/B test that was switched on or off while it
   * was paused. Nobody is sent to twice. The rest is sent through the marketing provider that the
   * workspace's settings name now, at its present rate; the answer says which one. If they name
   * none, the one it began with is kept. If it was paused because too many messages could not be
   * rendered, those recipients have failed and are not retried, and the rest is sent whatever fails:
   * contacts and the recipient feed are read again, the template stays pinned.
   */
  resume(
    request: InWorkspace<types.ResumeBroadcastRequest>,
    options?: RequestOptions,
  ): Promise<types.ResumeBroadcastResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/broadcasts.resume' }, request, options);
  }

  /**
   * Cancels a broadcast that is scheduled, paused or being sent. Messages that are being handed to
   * the provider at that moment are still sent; the counts include them as soon as the provider has
   * answered.
   */
  cancel(
    request: InWorkspace<types.CancelBroadcastRequest>,
    options?: RequestOptions,
  ): Promise<types.CancelBroadcastResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/broadcasts.cancel' }, request, options);
  }

  /**
   * Chooses the variation for all remaining recipients, during the test or after it. A broadcast
   * that was paused in its test stays paused.
   *
   * Installations with `DEMO_MODE=true` refuse it with a 400.
   */
  selectWinner(
    request: InWorkspace<types.SelectWinnerRequest>,
    options?: RequestOptions,
  ): Promise<types.SelectWinnerResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/broadcasts.selectWinner' },
      request,
      options,
    );
  }

  /**
   * Reads the results of each variation of a test, the recommended winner, and how the winner was
   * chosen. Opens and clicks by programs don't count.
   */
  getTestResults(
    request: InWorkspace<BroadcastsGetTestResultsQuery>,
    options?: RequestOptions,
  ): Promise<types.GetTestResultsResponse> {
    return this.#http.call(
      { verb: 'GET', path: '/api/broadcasts.getTestResults' },
      request,
      options,
    );
  }

  /**
   * Deletes a broadcast that is a draft, scheduled, ended, or paused before anything was sent. The
   * history of its messages stays.
   */
  delete(
    request: InWorkspace<types.DeleteBroadcastRequest>,
    options?: RequestOptions,
  ): Promise<types.DeleteBroadcastResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/broadcasts.delete' }, request, options);
  }
}
