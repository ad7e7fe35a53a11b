// Made from the contract by `npm run gen`.
import type { Http, InWorkspace, RequestOptions } from '../http.ts';
import type * as types from './types.ts';

export type SystemHoldQuery = Record<string, never>;

/**
 * The hold of the installation: with it no broadcast and no transactional message is sent, while
 * the API works. A database that was restored from a backup is on hold, since the system may have
 * sent since the backup what the restored rows do not know.
 */
export class System {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * Reads the hold, and what is in doubt: broadcasts that were being sent and transactional messages
   * that waited.
   */
  hold(
    request: InWorkspace<SystemHoldQuery> = {},
    options?: RequestOptions,
  ): Promise<types.GetHoldResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/system.hold' }, request, options);
  }

  /**
   * Places a hold. Processes stop to begin messages within a second; broadcasts wait as in an
   * outage, with the reason.
   *
   * Installations with `DEMO_MODE=true` refuse it with a 400.
   */
  placeHold(
    request: InWorkspace<types.PlaceHoldRequest>,
    options?: RequestOptions,
  ): Promise<types.PlaceHoldResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/system.placeHold' }, request, options);
  }

  /**
   * Releases the hold. Broadcasts go on when they try again, or when somebody resumes them.
   *
   * Installations with `DEMO_MODE=true` refuse it with a 400.
   */
  releaseHold(
    request: InWorkspace<types.ReleaseHoldRequest>,
    options?: RequestOptions,
  ): Promise<types.ReleaseHoldResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/system.releaseHold' }, request, options);
  }
}
