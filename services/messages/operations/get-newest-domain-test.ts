import type { Context, Methods } from '../context.ts';
import { findNewestTest } from '../domain-tests/store.ts';
import { toDomainTest } from '../views/domain-test.ts';

export function getNewestDomainTest({
  store,
  returnPaths,
}: Context): Methods['getNewestDomainTest'] {
  return async ({ workspaceId, name: domain }) => {
    const test = await findNewestTest(store.fork(), { workspaceId, domain });
    return { test: test && toDomainTest(test), isOffered: returnPaths !== undefined };
  };
}
