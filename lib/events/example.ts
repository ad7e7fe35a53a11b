import { type DescField, type DescMessage, getOption, ScalarType } from '@bufbuild/protobuf';
import { json } from '#gen/postrider/options/v1/options_pb.ts';
import { nestedIn } from './contracts.ts';

/**
 * Data of an event that happened at a time, from the examples in its contract: what a test of a
 * webhook sends, and what the documentation shows.
 */
export function exampleOf(data: DescMessage, at: Date): Record<string, unknown> {
  return Object.fromEntries(data.fields.map((field) => [field.name, exampleValue(field, at)]));
}

function exampleValue(field: DescField, at: Date): unknown {
  const value = exampleOfOne(field, at);
  return field.fieldKind === 'list' ? [value] : value;
}

function exampleOfOne(field: DescField, at: Date): unknown {
  const { example, nullable } = getOption(field, json);
  const isTime = field.message?.typeName === 'google.protobuf.Timestamp';
  if (isTime && !nullable && example === '') return at.toISOString();
  const nested = nestedIn(field);
  if (nested) return { ...exampleOf(nested, at), ...(example !== '' && JSON.parse(example)) };
  if (example !== '') return isTime || isWord(field) ? example : JSON.parse(example);
  if (nullable) return null;
  throw new Error(`${field.parent.typeName}.${field.name} has no example`);
}

const isWord = ({ scalar, enum: words }: DescField) => scalar === ScalarType.STRING || words;
