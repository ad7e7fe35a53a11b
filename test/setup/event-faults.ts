import { type DescField, type DescMessage, getOption, ScalarType } from '@bufbuild/protobuf';
import { json } from '#gen/postrider/options/v1/options_pb.ts';
import { declaredEvents } from '#lib/events/contracts.ts';
import { enumWords } from '../../gateway/json/values.ts';

/** Tells the faults of a value by `report`. */
type Check = (value: unknown, report: (fault: string) => void) => void;

/**
 * What is wrong with the data of an event, by its contract: a field that is missing or not
 * declared, a value of another type, a null where none may be.
 */
export function eventFaults(type: string, dataJson: string): string[] {
  const faults: string[] = [];
  const check = checks.get(type);
  if (check) check(JSON.parse(dataJson), (fault) => faults.push(fault));
  else faults.push(`${type} is no event`);
  return faults;
}

function checkMessage({ fields }: DescMessage, path: string): Check {
  const checks = new Map(fields.map((field) => [field.name, checkField(field, path)]));
  return (value, report) => {
    if (!isObject(value)) return report(`${path} is no object`);
    for (const name of Object.keys(value)) {
      if (!checks.has(name)) report(`${path}.${name} is not declared`);
    }
    for (const [name, check] of checks) check(value[name], report);
  };
}

function checkField(field: DescField, owner: string): Check {
  const path = `${owner}.${field.name}`;
  const { nullable } = getOption(field, json);
  const check = field.fieldKind === 'list' ? checkList(field, path) : checkValue(field, path);
  return (value, report) => {
    if (value === undefined) report(`${path} is missing`);
    else if (value !== null) check(value, report);
    else if (!nullable) report(`${path} is null`);
  };
}

function checkList(field: DescField, path: string): Check {
  const check = checkValue(field, `${path}[]`);
  return (value, report) => {
    if (!Array.isArray(value)) return report(`${path} is no array`);
    for (const each of value) check(each, report);
  };
}

function checkValue({ message, enum: words, scalar }: DescField, path: string): Check {
  const must = (isRight: (value: unknown) => boolean, name: string): Check => {
    const fault = `${path} is no ${name}`;
    return (value, report) => isRight(value) || report(fault);
  };
  if (message?.typeName === 'google.protobuf.Timestamp') return must(isTime, 'time');
  if (message?.typeName === 'google.protobuf.Struct') return must(isObject, 'object');
  if (message) return checkMessage(message, path);
  if (words) {
    const known = enumWords(words);
    return must((value) => typeof value === 'string' && known.has(value), words.name);
  }
  const isRight = scalar && scalars.get(scalar);
  if (!isRight) throw new Error(`${path} has a type that events do not use`);
  return must(isRight, ScalarType[scalar].toLowerCase());
}

const scalars = new Map<ScalarType, (value: unknown) => boolean>([
  [ScalarType.STRING, (value) => typeof value === 'string'],
  [ScalarType.BOOL, (value) => typeof value === 'boolean'],
  [ScalarType.DOUBLE, (value) => typeof value === 'number'],
  [ScalarType.INT32, Number.isInteger],
  [ScalarType.INT64, Number.isSafeInteger],
]);

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

function isTime(value: unknown): boolean {
  return typeof value === 'string' && rfc3339.test(value) && !Number.isNaN(Date.parse(value));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Made once for each event: a test may publish a hundred thousand. */
const checks = new Map(declaredEvents.map(({ type, data }) => [type, checkMessage(data, type)]));
