import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import type { Domain, DomainKey } from '../domains/domain.ts';
import type { Integration } from '../integration.ts';
import { splitSecrets } from '../integrations/settings.ts';
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
 * An integration as the log shows it: everything but the secrets, of which it shows whether they
 * changed.
 */
export function shownIntegration(
  { name, provider }: Pick<Integration, 'name' | 'provider'>,
  other?: Pick<Integration, 'provider'>,
) {
  const { shown, sealed } = splitSecrets(provider);
  const before = other && splitSecrets(other.provider).sealed;
  const secrets = Object.entries(sealed).map(([secret, value]) => {
    const isChanged = value !== before?.[secret] && value !== '';
    return [secret, isChanged ? 'changed' : 'kept'];
  });
  const { [provider.kind]: _, ...rest } = provider as Record<string, unknown>;
  return { name, ...rest, ...shown, ...Object.fromEntries(secrets) };
}

/** A domain as the log shows it: with the public halves of its keys alone. */
export function shownDomain(
  { dkim_algorithms, return_path_host, tracking_host }: Domain,
  keys: readonly DomainKey[],
) {
  const shownKeys = keys.map(({ selector, algorithm }) => `${selector} ${algorithm}`);
  return { dkim_algorithms, return_path_host, tracking_host, keys: shownKeys };
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
