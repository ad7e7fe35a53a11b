import { refusal } from '#lib/errors/reasons.ts';
import type { Context, Methods } from '../context.ts';
import { findTest } from '../domain-tests/store.ts';
import { uuid } from '../history/cursor.ts';
import { toDomainTest } from '../views/domain-test.ts';

export function getDomainTest({ store }: Context): Methods['getDomainTest'] {
  return async ({ workspaceId, id: given }) => {
    const id = given.toLowerCase();
    const test = uuid.test(id) ? await findTest(store.fork(), { workspaceId, id }) : undefined;
    if (!test) throw refusal('DOMAIN_TEST_NOT_FOUND', 'Test mail not found');
    return { test: toDomainTest(test) };
  };
}
