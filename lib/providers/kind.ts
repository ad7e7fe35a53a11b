import { create, type DescMessage, type MessageShape } from '@bufbuild/protobuf';
import {
  type EmailProvider,
  EmailProviderSchema,
} from '#gen/postrider/workspaces/v1/workspaces_pb.ts';
import { invalidField } from '../errors/errors.ts';
import type { SealedPlace } from '../keys/keyring.ts';

/** A kind of provider: its settings, and which of them are secret. */
export type KindOfProvider<Schema extends DescMessage = DescMessage> = {
  /** As in the API; the settings stand in the field of this name of `EmailProvider`. */
  kind: string;
  schema: Schema;
  /** The error of a provider without settings. */
  missing: string;
  /** Fields that are stored sealed and never answered; an empty one keeps the stored value. */
  secrets: readonly string[];
  /** Fields that name the account: a stored secret is kept only while they stay as they are. */
  account: readonly string[];
  /**
   * Gives the settings as they are stored. Throws an error that names the field, which is at `path`
   * in the request.
   */
  check(settings: MessageShape<Schema>, path: string): MessageShape<Schema>;
  /** The host that is called, with its field; absent where it is not a setting. */
  host?(settings: MessageShape<Schema>): { field: string; host: string };
};

/** Keeps the type of the settings to the file of the kind. */
export function kindOfProvider<Schema extends DescMessage>(
  kind: KindOfProvider<Schema>,
): KindOfProvider {
  return kind as unknown as KindOfProvider;
}

/** A provider's settings of this kind. Throws where it has none. */
export function settingsIn(
  { kind, schema, missing }: KindOfProvider,
  provider: EmailProvider,
): MessageShape<DescMessage> {
  const field = EmailProviderSchema.fields.find(({ name }) => name === kind);
  const settings = field && Reflect.get(provider, field.localName);
  if (!settings) throw invalidField(`provider.${kind}`, missing);
  return create(schema, settings);
}

/** The place that a secret is sealed for, such as `mailgun.api_key`; it opens for no other. */
export function secretPlace(
  { workspaceId, integrationId }: { workspaceId: string; integrationId: string },
  secret: string,
): SealedPlace {
  return { workspaceId, row: integrationId, column: secret };
}
