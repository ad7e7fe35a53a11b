// Made from the contract by `npm run gen`.
import type { Http, InWorkspace, RequestOptions } from '../http.ts';
import type * as types from './types.ts';

export type ReceiversListPausedQuery = {
  /** The workspace. */
  workspace_id: string;
  /** The integration. */
  integration_id: string;
};

/**
 * Pauses mail to groups of receivers of an integration that delivers directly (`direct` of its
 * SMTP settings). A group is named as the page of a broadcast and `status_info` of messages that
 * wait name it: `google`, or a domain.
 */
export class Receivers {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * Pauses a group for some time. Within two seconds no more mail to it is begun; it waits as
   * deferred mail, other groups go on, and no attempt is counted. Mail that is under way arrives. A
   * group that is paused already gets the new end. Mail to a domain for which DNS has not answered
   * yet counts for the domain itself, and goes out unless the domain is paused. Mail to a domain
   * whose mail hosts are of another group counts for that group alone: a pause of the domain does
   * not stop it.
   */
  pause(
    request: InWorkspace<types.PauseReceiverRequest>,
    options?: RequestOptions,
  ): Promise<types.PauseReceiverResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/receivers.pause' }, request, options);
  }

  /**
   * Ends a pause. The mail that waits goes out at the rate of its group, each message within an
   * hour. Does nothing to a group that is not paused.
   */
  resume(
    request: InWorkspace<types.ResumeReceiverRequest>,
    options?: RequestOptions,
  ): Promise<types.ResumeReceiverResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/receivers.resume' }, request, options);
  }

  /** Lists the groups of an integration that are paused, by name. */
  listPaused(
    request: InWorkspace<ReceiversListPausedQuery>,
    options?: RequestOptions,
  ): Promise<types.ListPausedReceiversResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/receivers.listPaused' }, request, options);
  }
}
