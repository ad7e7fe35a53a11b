import { invalidField } from '#lib/rpc/errors.ts';
import type { Permissions } from '../workspace.ts';

const resources = [
  'workspace',
  'contacts',
  'lists',
  'templates',
  'broadcasts',
  'transactional',
  'message_history',
  'webhooks',
];

type Given = Record<string, { read: boolean; write: boolean }>;

export function everything(): Permissions {
  return Object.fromEntries(resources.map((resource) => [resource, { read: true, write: true }]));
}

/** As stored. Throws for a resource that does not exist. */
export function storedPermissions(given: Given): Permissions {
  return Object.fromEntries(
    Object.entries(given).map(([resource, { read, write }]) => {
      if (!resources.includes(resource)) {
        throw invalidField(
          'permissions',
          `unknown resource in permissions: ${resource.slice(0, 50)}`,
        );
      }
      return [resource, { read, write }];
    }),
  );
}

/** Everything unless the request says otherwise. */
export function permissionsOrAll(given: Given): Permissions {
  return Object.keys(given).length === 0 ? everything() : storedPermissions(given);
}
