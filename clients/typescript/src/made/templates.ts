// Made from the contract by `npm run gen`.
import type { Http, InWorkspace, RequestOptions } from '../http.ts';
import { pages } from '../pages.ts';
import type * as types from './types.ts';

export type TemplatesListQuery = {
  /** The workspace. */
  workspace_id: string;
  /** Only this category. */
  category?: types.TemplateCategory;
  /** Only this channel. */
  channel?: types.TemplateChannel;
  /**
   * 1 to 1,000; 1,000 if absent, which is all of them. A page may hold fewer, since it ends at 4 MiB
   * of content.
   */
  limit?: number;
  /** `next_cursor` of the page before; empty for the first. */
  cursor?: string;
};

export type TemplatesGetQuery = {
  /** The workspace. */
  workspace_id: string;
  /** The template. */
  id: string;
  /** The newest version if zero. */
  version?: number;
};

export type TemplatesListVersionsQuery = {
  /** The workspace. */
  workspace_id: string;
  /** The template. */
  id: string;
  /** 1 to 1,000; 20 if absent. */
  limit?: number;
  /** `next_cursor` of the page before; empty for the first. */
  cursor?: string;
};

export type TemplatesCompareVersionsQuery = {
  /** The workspace. */
  workspace_id: string;
  /** The template. */
  id: string;
  /** The version before; usually the older one. */
  from: number;
  /** The version after. */
  to: number;
};

/**
 * Keeps templates. Every change makes a new version; sent mail keeps the version it was pinned to.
 */
export class Templates {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Lists the newest version of every template, last changed first, by pages. */
  list(
    request: InWorkspace<TemplatesListQuery> = {},
    options?: RequestOptions,
  ): Promise<types.ListTemplatesResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/templates.list' }, request, options);
  }

  /** The items of all pages of `list`, each asked for as it is needed. */
  listAll(
    request: InWorkspace<Omit<TemplatesListQuery, 'cursor'>> = {},
    options?: RequestOptions,
  ): AsyncGenerator<types.Template, void, undefined> {
    return pages(async (cursor) => {
      const answer = await this.list(
        { ...request, ...(cursor === undefined ? {} : { cursor }) },
        options,
      );
      return { items: answer.templates, next: answer.next_cursor };
    });
  }

  /** Reads one version of a template. */
  get(
    request: InWorkspace<TemplatesGetQuery>,
    options?: RequestOptions,
  ): Promise<types.GetTemplateResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/templates.get' }, request, options);
  }

  /**
   * Creates version 1 of a template; if its id is that of a deleted one, the version after those of
   * the deleted one. Its MJML and Liquid must compile.
   */
  create(
    request: InWorkspace<types.CreateTemplateRequest>,
    options?: RequestOptions,
  ): Promise<types.CreateTemplateResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/templates.create', keyed: true },
      request,
      options,
    );
  }

  /**
   * Replaces a template's content by a new version. Fields that are left out become empty. Mail that
   * was pinned to an earlier version keeps it. The channel and, for email, the editor mode stay as
   * they are.
   */
  update(
    request: InWorkspace<types.UpdateTemplateRequest>,
    options?: RequestOptions,
  ): Promise<types.UpdateTemplateResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/templates.update', keyed: true },
      request,
      options,
    );
  }

  /**
   * Deletes a template with all its versions, and frees its id. Broadcasts that are being sent keep
   * their version.
   */
  delete(
    request: InWorkspace<types.DeleteTemplateRequest>,
    options?: RequestOptions,
  ): Promise<types.DeleteTemplateResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/templates.delete' }, request, options);
  }

  /** Lists the versions of a template without their content, newest first, by pages. */
  listVersions(
    request: InWorkspace<TemplatesListVersionsQuery>,
    options?: RequestOptions,
  ): Promise<types.ListTemplateVersionsResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/templates.listVersions' }, request, options);
  }

  /** The items of all pages of `listVersions`, each asked for as it is needed. */
  listVersionsAll(
    request: InWorkspace<Omit<TemplatesListVersionsQuery, 'cursor'>>,
    options?: RequestOptions,
  ): AsyncGenerator<types.TemplateVersion, void, undefined> {
    return pages(async (cursor) => {
      const answer = await this.listVersions(
        { ...request, ...(cursor === undefined ? {} : { cursor }) },
        options,
      );
      return { items: answer.versions, next: answer.next_cursor };
    });
  }

  /** Compares two versions of a template field by field. */
  compareVersions(
    request: InWorkspace<TemplatesCompareVersionsQuery>,
    options?: RequestOptions,
  ): Promise<types.CompareTemplateVersionsResponse> {
    return this.#http.call(
      { verb: 'GET', path: '/api/templates.compareVersions' },
      request,
      options,
    );
  }

  /** Makes a new version with the content of an earlier one, which is compiled again. */
  restoreVersion(
    request: InWorkspace<types.RestoreTemplateVersionRequest>,
    options?: RequestOptions,
  ): Promise<types.RestoreTemplateVersionResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/templates.restoreVersion', keyed: true },
      request,
      options,
    );
  }

  /**
   * Compiles content without storing it, for previews. Mistakes in the content are reported in a
   * successful answer (`success` false), and what a recipient may dislike as `warnings`.
   * `/docs/preview` shows the mail, and `/docs/liquid` lists the variables, filters and tags.
   */
  compile(
    request: InWorkspace<types.CompileTemplateRequest>,
    options?: RequestOptions,
  ): Promise<types.CompileTemplateResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/templates.compile' }, request, options);
  }
}
