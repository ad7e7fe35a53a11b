import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import type { Integration } from '../integration.ts';
import type { Permissions } from '../workspace.ts';

/**
 * The fields that differ, with their values before and after; a field that was or is absent is
 * missing there.
 */
export function differences(before: object, after: object) {
  const [was, is] = [asJson(before), asJson(after)];
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])];
  const changed = names.filter((name) => !isDeepStrictEqual(was[name], is[name]));
  return { before: pick(was, changed), after: pick(is, changed) };
}

/**
 * What the log shows of an integration: everything but the password, of which it shows that it
 * changed.
 */
export function shownIntegration(
  { name, provider }: Pick<Integration, 'name' | 'provider'>,
  other?: Pick<Integration, 'provider'>,
) {
  const { smtp, ...rest } = provider;
  const { sealed_password: sealed, ...shown } = smtp;
  const isChanged = sealed !== other?.provider.smtp.sealed_password && sealed !== '';
  return { name, ...rest, ...shown, password: isChanged ? 'changed' : 'kept' };
}

/** Permissions as in the API: by resource. */
export function shownPermissions(permissions: Permissions) {
  return Object.fromEntries(
    Object.entries(permissions).map(([resource, { read, write }]) => [
      resource,
      [read ? 'read' : '', write ? 'write' : ''].filter(Boolean).join(', '),
    ]),
  );
}

function asJson(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value));
}

function pick(from: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    names.flatMap((name): [string, JsonValue][] => {
      const value = from[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
