import { type DescField, type DescMessage, getOption } from '@bufbuild/protobuf';
import { json as jsonOption } from '#gen/postrider/options/v1/options_pb.ts';

/** The name that a field has in JSON. */
export function jsonNameOf(field: DescField): string {
  return getOption(field, jsonOption).name || field.name;
}

/**
 * Whether callers of the JSON API see a field. The others are for the gateway and for gRPC callers.
 */
export function isInJson(field: DescField): boolean {
  const { nullFields, rowError, grpcOnly } = getOption(field, jsonOption);
  return !nullFields && !rowError && !grpcOnly;
}

/** A field that an option of the contract names. Throws where the message has none. */
export function fieldOf(desc: DescMessage, name: string): DescField {
  const field = desc.fields.find((candidate) => candidate.name === name);
  if (!field) throw new Error(`${desc.typeName} has no field ${name}`);
  return field;
}
