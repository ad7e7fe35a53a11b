import { type DescField, getOption, ScalarType } from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';
import { type FieldRules, field as ruleOption } from '#gen/buf/validate/validate_pb.ts';
import { json as jsonOption } from '#gen/postrider/options/v1/options_pb.ts';
import type { Schema } from './schema.ts';
import { commentOf } from './words.ts';

/**
 * The JSON Schema limits of a request's field: from its rules, and from its comment for limits
 * that code checks.
 */
export function limitsOf(field: DescField): Schema {
  const rules = getOption(field, ruleOption);
  const { format } = getOption(field, jsonOption);
  const limits = { ...inWords(field), ...standard(rules) };
  if (format !== '') limits.format = format;
  if (rules.required) Object.assign(limits, atLeastOne(field));
  const expressions = [...rules.cel.map(({ expression }) => expression), ...rules.celExpression];
  for (const part of expressions.flatMap((expression) => expression.split(' && '))) {
    Object.assign(limits, fromCel(part.trim(), field));
  }
  return limits;
}

/**
 * Whether a request without the field is refused: by rule, by code, or because its zero value is.
 */
export function isRequired(
  field: DescField,
  { minLength, minItems, minimum, not }: Schema,
): boolean {
  const { required, cel } = getOption(field, ruleOption);
  if (required || getOption(field, jsonOption).needed) return true;
  if (field.enum && cel.some(({ expression }) => expression === 'this != 0')) return true;
  const lowest = Math.max(...[minLength, minItems, minimum].map((limit) => Number(limit ?? 0)));
  const refusesZero = lowest > 0 || not !== undefined;
  return field.presence === FeatureSet_FieldPresence.IMPLICIT && refusesZero;
}

function standard({ type }: FieldRules): Schema {
  switch (type.case) {
    case 'string': {
      const { minLen, maxLen, pattern } = type.value;
      return given({ minLength: Number(minLen), maxLength: Number(maxLen), pattern });
    }
    case 'repeated': {
      const { minItems, maxItems } = type.value;
      return given({ minItems: Number(minItems), maxItems: Number(maxItems) });
    }
    case 'int32':
    case 'int64':
    case 'double':
      return range(type.value);
    default:
      return {};
  }
}

/** Rules that are not set are zero or empty, and limit nothing. */
function given(limits: Schema): Schema {
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit));
}

const bounds = new Map([
  ['gte', 'minimum'],
  ['gt', 'exclusiveMinimum'],
  ['lte', 'maximum'],
  ['lt', 'exclusiveMaximum'],
]);

type Bound = { case?: string | undefined; value?: number | bigint | undefined };

function range({ greaterThan, lessThan }: { greaterThan: Bound; lessThan: Bound }): Schema {
  const set = [greaterThan, lessThan].filter(({ value }) => value !== undefined);
  return Object.fromEntries(
    set.map((bound) => [bounds.get(bound.case ?? ''), Number(bound.value)]),
  );
}

function atLeastOne(field: DescField): Schema {
  if (field.fieldKind === 'list') return { minItems: 1 };
  if (isText(field)) return { minLength: 1 };
  return isInteger(field) ? { not: { const: 0 } } : {};
}

function isText(field: DescField): boolean {
  return field.fieldKind === 'scalar' && field.scalar === ScalarType.STRING;
}

function isInteger(field: DescField): boolean {
  const { fieldKind, scalar } = field;
  return fieldKind === 'scalar' && (scalar === ScalarType.INT32 || scalar === ScalarType.INT64);
}

/**
 * The forms of CEL that our rules use. Any other rule is documented by the field's comment only.
 */
function fromCel(part: string, field: DescField): Schema {
  if (part === "this != ''" || part === 'this != 0') return atLeastOne(field);
  const words = part.split(' || ').map((word) => /^this == '([^']*)'$/.exec(word)?.[1]);
  if (words.every((word) => word !== undefined))
    return { enum: words.filter((word) => word !== '') };
  const [, text] = /^this\.matches\(r?'(.*)'\)$/.exec(part) ?? [];
  if (text !== undefined) return { pattern: text.replaceAll('\\\\', '\\') };
  const [, size, sign, number] = /^(this|size\(this\)) ([<>]=?) (\d+)$/.exec(part) ?? [];
  return number === undefined ? {} : compared(field, sign ?? '', Number(number), size !== 'this');
}

function compared(field: DescField, sign: string, number: number, isSize: boolean): Schema {
  const isLower = sign.startsWith('>');
  const strictness = sign.endsWith('=') ? 0 : 1;
  const limit = isLower ? number + strictness : number - strictness;
  if (!isSize) return { [isLower ? 'minimum' : 'maximum']: limit };
  const unit = isText(field) ? 'Length' : 'Items';
  return { [`${isLower ? 'min' : 'max'}${unit}`]: limit };
}

const upTo = /\b(?:[Aa]t most|[\d,]+ to) ([\d,]*\d)(?: ([a-zA-Z]+))?/;
const fromTo = /\b([\d,]*\d) to ([\d,]*\d)\b/;

/** Comments state limits in a fixed form: `At most 255 characters`, `1 to 100`. */
function inWords(field: DescField): Schema {
  const comment = commentOf(field);
  const [, most = '', unit = ''] = upTo.exec(comment) ?? [];
  if (isText(field) && /^(?:characters|letters)$/.test(unit)) return { maxLength: numberOf(most) };
  if (field.fieldKind === 'list' && most !== '') return { maxItems: numberOf(most) };
  const [, lowest, highest] = fromTo.exec(comment) ?? [];
  if (!isInteger(field) || lowest === undefined || highest === undefined) return {};
  return { minimum: numberOf(lowest), maximum: numberOf(highest) };
}

function numberOf(text: string): number {
  return Number(text.replaceAll(',', ''));
}
