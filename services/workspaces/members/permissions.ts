import { invalidField } from '#lib/errors/errors.ts';
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

type PermissionMap = Record<string, { read: boolean; write: boolean }>;

export function everything(): Permissions {
  return Object.fromEntries(resources.map((resource) => [resource, { read: true, write: true }]));
}

/** As stored. Throws for a resource that does not exist. */
function storedPermissions(given: PermissionMap): Permissions {
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

/** Of a request, in which an empty map is an absent one unless it says that it denies all. */
type PermissionsRequest = { permissions: PermissionMap; noPermissions: boolean };

export function permissionsOrAll(asked: PermissionsRequest): Permissions {
  return isAbsent(asked) ? everything() : storedPermissions(asked.permissions);
}

export function neededPermissions(asked: PermissionsRequest): Permissions {
  if (isAbsent(asked)) throw invalidField('permissions', 'permissions is required');
  return storedPermissions(asked.permissions);
}

function isAbsent({ permissions, noPermissions }: PermissionsRequest): boolean {
  return Object.keys(permissions).length === 0 && !noPermissions;
}
