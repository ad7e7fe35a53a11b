import type { Route } from '../../gateway/api/routes.ts';
import { requestExample } from '../../gateway/openapi/examples.ts';
import { exampleQuery } from '../../gateway/openapi/operations.ts';
import { overHttp, routes, type Told, workspaceFieldOf } from '../contract/operations.ts';
import { unique } from '../stack/given.ts';
import { givenWorkspace } from '../stack/given-workspace.ts';
import { signIn } from '../stack/owner.ts';
import type { TestStack } from '../stack.ts';

/** Operations that others depend on come first; those that delete come last. */
const first = [
  'lists.create',
  'contacts.upsert',
  'templates.create',
  'transactional.create',
  'segments.create',
  'broadcasts.create',
  'webhookSubscriptions.create',
  'webhookListeners.create',
];
const last = [/\.cancel$/, /\.delete|\.remove|\.revoke/, /workspaces\.delete$/];

const orderOf = ({ path }: Route) => {
  const at = first.indexOf(path.replace('/api/', ''));
  const end = last.findLastIndex((pattern) => pattern.test(path));
  return at >= 0 ? at - first.length : end + 1;
};
/** Ends every session of root, which all tests share. */
const logout = '/api/user.logout';

/** Every operation, so that the example of each finds what those before it have made. */
export const inOrder: readonly Route[] = routes
  .filter(({ path }) => path !== logout)
  .toSorted((one, other) => orderOf(one) - orderOf(other));

export type ExampleRequest = Record<string, unknown>;

/** The request of an operation as the reference prints it. */
export const exampleOf = (route: Route): ExampleRequest =>
  route.verb === 'POST' ? requestExample(route.method.input) : exampleQuery(route);

/** Sends requests for a workspace of their own; the documentation's is `demo`. */
export async function exampleSender(
  stack: TestStack,
): Promise<(route: Route, example: ExampleRequest) => Promise<Told>> {
  const token = await signIn(stack.settings);
  const { id } = await givenWorkspace(stack);
  // One that the examples have created themselves, so that all of them may be sent again.
  let created = '';
  return (route, example) => {
    const field = workspaceFieldOf(route.method);
    const given = example[field] === 'demo' ? { [field]: id } : {};
    if (route.path === '/api/workspaces.create') created = unique('w');
    const own = /workspaces\.(create|delete)$/.test(route.path) ? { id: created } : {};
    const request = { ...example, ...given, ...own };
    return overHttp(stack.settings.BASE_URL ?? '', route, { token, request });
  };
}
