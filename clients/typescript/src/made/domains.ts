// Made from the contract by `npm run gen`.
import type { Http, InWorkspace, RequestOptions } from '../http.ts';
import type * as types from './types.ts';

export type DomainsListQuery = {
  /** The workspace. */
  workspace_id: string;
};

export type DomainsGetQuery = {
  /** The workspace. */
  workspace_id: string;
  /** The domain's name. */
  name: string;
};

export type DomainsTestResultQuery = {
  /** The workspace. */
  workspace_id: string;
  /** The test's id. A UUID. */
  id: string;
};

/**
 * Says which DNS records a sending domain needs, looks whether they are there, and keeps the keys
 * that sign its mails.
 *
 * A new domain is checked at once, after 1, 5, 15 and 60 minutes, and then daily; hourly while a
 * record is missing in its first 3 days, and while it is held. A change of the domain, and a check
 * with another result than the one before, begin this again. The owners of the workspace get a
 * mail when a domain that was in order is not so any more, and one when it is again. If nothing
 * proves a domain any more, or no key of it can be read, at three checks over at least 24 hours,
 * then its mails wait. A DNS server that fails never makes a record wrong.
 *
 * Postrider signs no mail of a domain that has no keys: then the mail server of the integration
 * signs, or nobody.
 */
export class Domains {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Lists the domains of a workspace, by name. At most 100. */
  list(
    request: InWorkspace<DomainsListQuery> = {},
    options?: RequestOptions,
  ): Promise<types.ListDomainsResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/domains.list' }, request, options);
  }

  /** Reads a domain. */
  get(
    request: InWorkspace<DomainsGetQuery>,
    options?: RequestOptions,
  ): Promise<types.GetDomainResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/domains.get' }, request, options);
  }

  /**
   * Adds a domain, and makes its keys. Other workspaces may add the same one; it belongs to the
   * first whose ownership record is found.
   */
  create(
    request: InWorkspace<types.CreateDomainRequest>,
    options?: RequestOptions,
  ): Promise<types.CreateDomainResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/domains.create', keyed: true },
      request,
      options,
    );
  }

  /**
   * Replaces the algorithms and hosts of a domain. A key of a new algorithm is made; those of an
   * algorithm that is left out sign until another one does, or no more where none is left; their
   * records should stay for 7 days.
   */
  update(
    request: InWorkspace<types.UpdateDomainRequest>,
    options?: RequestOptions,
  ): Promise<types.UpdateDomainResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/domains.update' }, request, options);
  }

  /**
   * Looks at all records of a domain now, and answers with what is found. It takes up to 25 seconds
   * where DNS servers do not answer.
   */
  verify(
    request: InWorkspace<types.VerifyDomainRequest>,
    options?: RequestOptions,
  ): Promise<types.VerifyDomainResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/domains.verify' }, request, options);
  }

  /**
   * Makes the next key of each algorithm. The key in use signs until the new one may: once all DNS
   * servers of the installation have shown it for an hour (`DKIM_KEY_SEEN_FOR`). Then the old record
   * should stay for 7 days, since mails on their way are signed by it.
   */
  rotateKey(
    request: InWorkspace<types.RotateDomainKeyRequest>,
    options?: RequestOptions,
  ): Promise<types.RotateDomainKeyResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/domains.rotateKey', keyed: true },
      request,
      options,
    );
  }

  /**
   * Deletes a domain with its keys. Its mails are sent as those of any other address, unsigned.
   *
   * Installations with `DEMO_MODE=true` refuse it with a 400.
   */
  delete(
    request: InWorkspace<types.DeleteDomainRequest>,
    options?: RequestOptions,
  ): Promise<types.DeleteDomainResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/domains.delete' }, request, options);
  }

  /**
   * Sends a test mail from a sender of the workspace in the domain. The answer comes once the
   * integration's provider has taken or refused it; `domains.testResult` tells what became of it.
   * The last 100 tests of a workspace are kept.
   *
   * Installations with `DEMO_MODE=true` refuse it with a 400.
   */
  testMail(
    request: InWorkspace<types.SendDomainTestRequest>,
    options?: RequestOptions,
  ): Promise<types.SendDomainTestResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/domains.testMail' }, request, options);
  }

  /** Tells what became of a test mail. */
  testResult(
    request: InWorkspace<DomainsTestResultQuery>,
    options?: RequestOptions,
  ): Promise<types.GetDomainTestResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/domains.testResult' }, request, options);
  }
}
