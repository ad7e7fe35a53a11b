// Made from the contract by `npm run gen`.
import type { Http, InWorkspace, RequestOptions } from '../http.ts';
import type * as types from './types.ts';

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
   */
  subscribe(
    request: InWorkspace<types.SubscribeRequest>,
    options?: RequestOptions,
  ): Promise<types.SubscribeResponse> {
    return this.#http.call({ verb: 'POST', path: '/subscribe' }, request, options);
  }
}
