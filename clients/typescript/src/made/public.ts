// Made from the contract by `npm run gen`.
import type { Http, InWorkspace, RequestOptions } from '../http.ts';
import type * as types from './types.ts';

export type PublicSubscribeChallengeQuery = {
  /** The workspace of the form. At most 64 characters. */
  workspace_id: string;
};

export class Public {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * Subscribes a person to lists: all of them, or none. Without a valid `email_hmac` only public
   * lists can be subscribed, and an existing contact is not changed. A list with double opt-in waits
   * for a confirmation by mail; a valid `email_hmac` is the confirmation of one that waits already.
   * A list that the person has left always requires one, and so does every list once they have left
   * all mail. A bounce or complaint is never lifted. The answer reveals nothing about the address; a
   * disposable address gets the same answer, and nothing is stored. Null fields count as absent.
   *
   * With the setting `form_proof_of_work` a request needs `altcha`, the solution of a challenge of
   * `/subscribe/challenge`, unless `email_hmac` is valid. A solution is good for one address and its
   * lists, once. A repeat within a minute gets the same answer and does nothing more. A request that
   * fails does not use up its solution.
   */
  subscribe(
    request: InWorkspace<types.SubscribeRequest>,
    options?: RequestOptions,
  ): Promise<types.SubscribeResponse> {
    return this.#http.call({ verb: 'POST', path: '/subscribe' }, request, options);
  }

  /**
   * Makes a challenge of ALTCHA, whose widget solves it in the browser of a form. It takes some
   * hundred milliseconds of work on a desktop, up to eight times as much where many forms of the
   * workspace came within the last minute. The solution goes into `altcha` of `/subscribe` within 5
   * minutes. Nothing is stored, and the answer is the same for a workspace that does not exist or
   * does not ask for a proof of work.
   */
  subscribeChallenge(
    request: InWorkspace<PublicSubscribeChallengeQuery> = {},
    options?: RequestOptions,
  ): Promise<types.GetFormChallengeResponse> {
    return this.#http.call({ verb: 'GET', path: '/subscribe/challenge' }, request, options);
  }
}
