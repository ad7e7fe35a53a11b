import { fromJson, type JsonObject, toJson } from '@bufbuild/protobuf';
import type { EmailProvider } from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { invalidField } from '#lib/errors/errors.ts';
import type { Keyring } from '#lib/keys/keyring.ts';
import { findKind } from '#lib/providers/all.ts';
import { type KindOfProvider, secretPlace, settingsIn } from '#lib/providers/kind.ts';
import type { StoredProvider } from '../integration.ts';

/** Seals a secret, which is named by the kind and the field. */
export type SealSecret = (secret: string, value: string) => string;

/** Seals secrets of an integration, so that only messages opens them. */
export function secretSealer(
  { letters }: Keyring,
  integration: { workspaceId: string; integrationId: string },
): SealSecret {
  return (secret, value) => letters.seal(value, secretPlace(integration, secret));
}

const sealedName = (secret: string) => `sealed_${secret}`;

/** Where a secret stands in a stored provider, as a path of PostgreSQL. */
export const sealedPath = (kind: string, secret: string) => [kind, sealedName(secret)] as const;

/**
 * Checks the settings and gives them as they are stored, with the host that they call; an empty
 * secret keeps the sealed one of the same account `before`.
 */
export function storedSettings(
  provider: EmailProvider,
  seal: SealSecret,
  before?: StoredProvider,
): { settings: JsonObject; called: { field: string; host: string } | undefined } {
  const kind = findKind(provider.kind);
  if (!kind) {
    throw invalidField('provider.kind', `invalid email provider kind: ${provider.kind}`);
  }
  const path = `provider.${kind.kind}`;
  const checked = kind.check(settingsIn(kind, provider), path);
  const settings = Object.fromEntries(
    Object.entries(asJson(kind, checked)).map(([name, value]) => {
      if (!kind.secrets.includes(name)) return [name, value];
      const text = String(value);
      const sealed =
        text === '' ? kept(kind, { name, checked, before }) : seal(`${kind.kind}.${name}`, text);
      return [sealedName(name), sealed];
    }),
  );
  const called = kind.host?.(checked);
  return { settings, called: called && { ...called, field: `${path}.${called.field}` } };
}

/** British English has no comma before `or`. */
const inWords = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** A stored secret is kept only for the same account. */
function kept(
  kind: KindOfProvider,
  given: {
    name: string;
    checked: Parameters<KindOfProvider['check']>[0];
    before: StoredProvider | undefined;
  },
): string {
  const { name, checked, before } = given;
  const stored = before && settingsOf(before);
  const sealed = String(stored?.[sealedName(name)] ?? '');
  if (before?.kind !== kind.kind || sealed === '') return '';
  const now = asJson(kind, checked);
  if (kind.account.every((field) => now[field] === stored?.[field])) return sealed;
  const fields = inWords.format(kind.account);
  throw invalidField(`provider.${kind.kind}.${name}`, `${name} is required when ${fields} change`);
}

/**
 * The settings without secrets, as a message; undefined for a kind that this release does not know.
 * A newer release may have stored it, and other settings of a known one.
 */
export function settingsMessage(provider: StoredProvider): object | undefined {
  const kind = findKind(provider.kind);
  const { shown } = splitSecrets(provider);
  return kind && fromJson(kind.schema, shown, { ignoreUnknownFields: true });
}

/** Parts the settings into those that may be shown and the sealed secrets, by their names. */
export function splitSecrets(provider: StoredProvider): {
  shown: JsonObject;
  sealed: Record<string, string>;
} {
  const secrets = findKind(provider.kind)?.secrets ?? [];
  const settings = settingsOf(provider);
  const shown = Object.entries(settings).filter(([name]) => !name.startsWith(sealedName('')));
  const sealed = secrets.map((secret) => [secret, String(settings[sealedName(secret)] ?? '')]);
  return { shown: Object.fromEntries(shown), sealed: Object.fromEntries(sealed) };
}

function settingsOf(provider: StoredProvider): JsonObject {
  return (Reflect.get(provider, provider.kind) ?? {}) as JsonObject;
}

function asJson({ schema }: KindOfProvider, settings: Parameters<KindOfProvider['check']>[0]) {
  const options = { useProtoFieldName: true, alwaysEmitImplicit: true };
  return toJson(schema, settings, options) as JsonObject;
}
