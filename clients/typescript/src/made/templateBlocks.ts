// Made from the contract by `npm run gen`.
import type { Http, InWorkspace, RequestOptions } from '../http.ts';
import { pages } from '../pages.ts';
import type * as types from './types.ts';

export type TemplateBlocksListQuery = {
  /** The workspace. */
  workspace_id: string;
  /**
   * 1 to 500; 500 if absent, which is all of them. A page may hold fewer, since it ends at 4 MiB of
   * content.
   */
  limit?: number;
  /** `next_cursor` of the page before; empty for the first. */
  cursor?: string;
};

export type TemplateBlocksGetQuery = {
  /** The workspace. */
  workspace_id: string;
  /** UUID of the block. */
  id: string;
};

/**
 * Keeps reusable blocks. A template holds copies of them, so a change of a block changes no
 * template.
 */
export class TemplateBlocks {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Lists blocks by name, by pages. */
  list(
    request: InWorkspace<TemplateBlocksListQuery> = {},
    options?: RequestOptions,
  ): Promise<types.ListTemplateBlocksResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/templateBlocks.list' }, request, options);
  }

  /** The items of all pages of `list`, each asked for as it is needed. */
  listAll(
    request: InWorkspace<Omit<TemplateBlocksListQuery, 'cursor'>> = {},
    options?: RequestOptions,
  ): AsyncGenerator<types.TemplateBlock, void, undefined> {
    return pages(async (cursor) => {
      const answer = await this.list(
        { ...request, ...(cursor === undefined ? {} : { cursor }) },
        options,
      );
      return { items: answer.blocks, next: answer.next_cursor };
    });
  }

  /** Reads one block. */
  get(
    request: InWorkspace<TemplateBlocksGetQuery>,
    options?: RequestOptions,
  ): Promise<types.GetTemplateBlockResponse> {
    return this.#http.call({ verb: 'GET', path: '/api/templateBlocks.get' }, request, options);
  }

  /** Creates a block. */
  create(
    request: InWorkspace<types.CreateTemplateBlockRequest>,
    options?: RequestOptions,
  ): Promise<types.CreateTemplateBlockResponse> {
    return this.#http.call(
      { verb: 'POST', path: '/api/templateBlocks.create', keyed: true },
      request,
      options,
    );
  }

  /** Replaces a block and its name. */
  update(
    request: InWorkspace<types.UpdateTemplateBlockRequest>,
    options?: RequestOptions,
  ): Promise<types.UpdateTemplateBlockResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/templateBlocks.update' }, request, options);
  }

  /** Deletes a block. */
  delete(
    request: InWorkspace<types.DeleteTemplateBlockRequest>,
    options?: RequestOptions,
  ): Promise<types.DeleteTemplateBlockResponse> {
    return this.#http.call({ verb: 'POST', path: '/api/templateBlocks.delete' }, request, options);
  }
}
