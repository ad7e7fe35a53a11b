import { expect, test } from '@jest/globals';
import type { Route } from '../../gateway/api/routes.ts';
import { requestExample } from '../../gateway/openapi/examples.ts';
import { isRequired, limitsOf } from '../../gateway/openapi/limits.ts';
import { exampleQuery } from '../../gateway/openapi/operations.ts';
import { overHttp, routes, type Told, workspaceFieldOf } from '../contract/operations.ts';
import { unique } from '../stack/given.ts';
import { givenWorkspace } from '../stack/given-workspace.ts';
import { signIn } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';

/**
 * Every example of the reference, sent as it is printed to a workspace in which the earlier ones
 * have been sent.
 */

const stack = borrowedStack();

/** Operations that others depend on come first; those that delete come last. */
const first = [
  'lists.create',
  'contacts.upsert',
  'templates.create',
  'transactional.create',
  'segments.create',
  'broadcasts.create',
  'webhookSubscriptions.create',
];
const last = [/\.cancel$/, /\.delete|\.remove|\.revoke/, /workspaces\.delete$/];

/** Codes, signatures and invitations cannot be written down in advance. */
const secrets = new Set(['/api/user.rootSignin', '/api/user.verifyCode']);

const orderOf = ({ path }: Route) => {
  const at = first.indexOf(path.replace('/api/', ''));
  const end = last.findLastIndex((pattern) => pattern.test(path));
  return at >= 0 ? at - first.length : end + 1;
};
/** Ends every session of root, which all tests share. */
const logout = '/api/user.logout';
const inOrder = routes
  .filter(({ path }) => path !== logout)
  .toSorted((one, other) => orderOf(one) - orderOf(other));

type Request = Record<string, unknown>;
const exampleOf = (route: Route): Request =>
  route.verb === 'POST' ? requestExample(route.method.input) : exampleQuery(route);

/** Sends a request for the workspace `id`; the documentation's is `demo`. */
async function sender() {
  const token = await signIn(stack.settings);
  const { id } = await givenWorkspace(stack);
  return (route: Route, example: Request): Promise<Told> => {
    const field = workspaceFieldOf(route.method);
    const given = example[field] === 'demo' ? { [field]: id } : {};
    const made = route.path === '/api/workspaces.create' ? { id: unique('w') } : {};
    const request = { ...example, ...given, ...made };
    return overHttp(stack.settings.BASE_URL ?? '', route, { token, request });
  };
}

test('every example is answered with success, or with the 404 of what is not there', async () => {
  const send = await sender();
  const wrong: string[] = [];
  for (const route of inOrder) {
    const { status, error } = await send(route, exampleOf(route));
    const isAnswered =
      status < 300 || status === 404 || (secrets.has(route.path) && status === 401);
    if (!isAnswered) wrong.push(`${route.path}: ${status} ${error}`);
  }
  expect(wrong).toEqual([]);
}, 120_000);

/** Errors about fields of which another one would do. */
const alternatives = / or .* is required|for channel 'email'|at least one event type is required/;

test('every field that an operation demands is marked as required', async () => {
  const send = await sender();
  const unmarked: string[] = [];
  for (const route of inOrder) {
    const example = exampleOf(route);
    for (const path of Object.keys(example)) {
      const field = route.method.input.fields.find(({ name }) => name === path);
      if (!field || isRequired(field, limitsOf(field))) continue;
      const { [path]: _, ...rest } = example;
      const told = await send(route, rest);
      const isDemanded = told.status === 400 && !alternatives.test(told.error);
      if (isDemanded) unmarked.push(`${route.path} ${path}: ${told.error}`);
    }
  }
  expect(unmarked).toEqual([]);
}, 120_000);
