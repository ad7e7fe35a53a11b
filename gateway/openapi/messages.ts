import {
  type DescEnum,
  type DescField,
  type DescMessage,
  getOption,
  ScalarType,
} from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';
import { json as jsonOption } from '#gen/postrider/options/v1/options_pb.ts';
import { isInJson, jsonNameOf } from '../json/in-json.ts';
import { enumWords } from '../json/values.ts';
import { isRequired, limitsOf } from './limits.ts';
import { orNull, type Schema } from './schema.ts';
import { commentOf } from './words.ts';

/**
 * A message has one schema in requests (fields that may be given) and another in answers (fields
 * that are present).
 */
export type Direction = 'request' | 'response';

/** The document's named schemas, filled while operations are described. */
export type Schemas = {
  components: Record<string, Schema>;
  refTo(desc: DescMessage, direction: Direction): Schema;
  /** A field's own schema, its description included. */
  ofField(field: DescField, direction: Direction): Schema;
};

const scalars = new Map<ScalarType, Schema>([
  [ScalarType.STRING, { type: 'string' }],
  [ScalarType.BOOL, { type: 'boolean' }],
  [ScalarType.DOUBLE, { type: 'number', format: 'double' }],
  [ScalarType.INT32, { type: 'integer', format: 'int32' }],
  [ScalarType.UINT32, { type: 'integer', minimum: 0 }],
  [ScalarType.INT64, { type: 'integer', format: 'int64' }],
]);

/** `answered` holds the messages of answers: in requests they get another name. */
export function createSchemas(answered: ReadonlySet<DescMessage>): Schemas {
  const components: Record<string, Schema> = {};
  const owners = new Map<string, object>();
  const define = (name: string, desc: DescMessage | DescEnum, make: () => Schema): Schema => {
    const owner = owners.get(name) ?? desc;
    if (owner !== desc) throw new Error(`two types are called ${name} in the OpenAPI document`);
    if (!owners.has(name)) {
      owners.set(name, desc);
      // Registered before its fields are described, so that a message may contain its own type.
      components[name] = {};
      components[name] = make();
    }
    return { $ref: `#/components/schemas/${name}` };
  };
  const schemas: Schemas = {
    components,
    refTo(desc, direction) {
      const name = direction === 'request' && answered.has(desc) ? `${desc.name}Input` : desc.name;
      return define(name, desc, () => messageSchema(schemas, desc, direction));
    },
    ofField: (field, direction) => fieldSchema(field, direction, { schemas, define }),
  };
  return schemas;
}

type Make = {
  schemas: Schemas;
  define: (name: string, desc: DescEnum, make: () => Schema) => Schema;
};

function messageSchema(schemas: Schemas, desc: DescMessage, direction: Direction): Schema {
  const fields = desc.fields.filter(isInJson);
  const required = fields.filter((field) => isAlwaysThere(field, direction)).map(jsonNameOf);
  return {
    type: 'object',
    description: commentOf(desc),
    properties: Object.fromEntries(
      fields.map((field) => [jsonNameOf(field), schemas.ofField(field, direction)]),
    ),
    ...(required.length > 0 ? { required } : {}),
  };
}

function isAlwaysThere(field: DescField, direction: Direction): boolean {
  const { always, nullable } = getOption(field, jsonOption);
  if (direction === 'request') return isRequired(field, limitsOf(field));
  const isPrinted =
    field.presence === FeatureSet_FieldPresence.IMPLICIT && field.fieldKind !== 'enum';
  return isPrinted || nullable || always;
}

function fieldSchema(field: DescField, direction: Direction, make: Make): Schema {
  const description = commentOf(field);
  const limits = direction === 'request' ? limitsOf(field) : {};
  const { maxItems, ...ofValue } = limits;
  const isFilled = direction === 'request' && getOption(field, jsonOption).notEmpty;
  const minItems = isFilled ? 1 : limits.minItems;
  const value = valueSchema(field, direction, make);
  const schema = wrapped(field, { minItems, maxItems }, { ...value, ...ofValue });
  return { ...(mayBeNull(field, direction) ? orNull(schema) : schema), description };
}

/** In a request null stands for an absent field, or clears the field where the contract says so. */
function mayBeNull(field: DescField, direction: Direction): boolean {
  if (direction === 'response') return getOption(field, jsonOption).nullable;
  return !isAlwaysThere(field, direction);
}

function wrapped(field: DescField, items: Schema, value: Schema): Schema {
  if (field.fieldKind === 'list') return { type: 'array', items: value, ...items };
  return field.fieldKind === 'map' ? { type: 'object', additionalProperties: value } : value;
}

function valueSchema(field: DescField, direction: Direction, { schemas, define }: Make): Schema {
  const { message, enum: words } = field;
  if (words) return define(words.name, words, () => enumSchema(words));
  if (message) return wellKnown.get(message.typeName) ?? schemas.refTo(message, direction);
  const schema = field.scalar && scalars.get(field.scalar);
  if (!schema) throw new Error(`${field.parent.typeName}.${field.name} has no form in JSON`);
  return schema;
}

const wellKnown = new Map<string, Schema>([
  ['google.protobuf.Timestamp', { type: 'string', format: 'date-time' }],
  ['google.protobuf.Struct', { type: 'object', additionalProperties: true }],
]);

function enumSchema(desc: DescEnum): Schema {
  const words = [...enumWords(desc)];
  const meanings = words.map(([word, number]) => {
    const value = desc.value[number];
    return `- \`${word}\`: ${value ? commentOf(value) : ''}`;
  });
  return {
    type: 'string',
    enum: words.map(([word]) => word),
    description: [commentOf(desc), '', ...meanings].join('\n'),
  };
}
