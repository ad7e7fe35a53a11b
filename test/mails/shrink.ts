import type { JsonObject, JsonValue } from '@bufbuild/protobuf';
import type { GivenMail } from './given.ts';
import { removals } from './removals.ts';

/** Each try compiles the mail three times, which takes some 30 ms. */
const triesMax = 400;

/** A smaller mail of which `holds` is still true; the mail itself if that never was. */
export async function shrunk(
  mail: GivenMail,
  holds: (mail: GivenMail) => Promise<boolean>,
): Promise<GivenMail> {
  let tries = 0;
  const isGood = async (each: GivenMail) => {
    tries += 1;
    return tries <= triesMax && (await holds(each));
  };
  let smallest = mail;
  for (;;) {
    const next = await firstGood(smallerThan(smallest), isGood);
    if (!next) return smallest;
    smallest = next;
  }
}

async function firstGood(
  candidates: Iterable<GivenMail>,
  isGood: (mail: GivenMail) => Promise<boolean>,
): Promise<GivenMail | undefined> {
  for (const candidate of candidates) if (await isGood(candidate)) return candidate;
  return undefined;
}

/** The largest steps first. */
function* smallerThan(mail: GivenMail): Generator<GivenMail> {
  const { subjectPreview, text, subject } = mail;
  if (subjectPreview) yield { ...mail, subjectPreview: undefined };
  if (text) yield { ...mail, text: undefined };
  if (subject !== 'S') yield { ...mail, subject: 'S' };
  for (const mjml of removals(mail.mjml)) yield { ...mail, mjml };
  for (const data of smallerObjects(mail.data)) yield { ...mail, data };
}

function* smallerValues(value: JsonValue): Generator<JsonValue> {
  if (Array.isArray(value)) {
    for (const index of value.keys()) yield value.toSpliced(index, 1);
    for (const [index, each] of value.entries()) {
      for (const smaller of smallerValues(each)) yield value.with(index, smaller);
    }
  } else if (value !== null && typeof value === 'object') {
    yield* smallerObjects(value);
  } else if (typeof value === 'string' && value.length > 1) {
    yield 'x';
    const half = Math.ceil(value.length / 2);
    yield value.slice(0, half);
    yield value.slice(half);
    if (value.length < 40) {
      for (let at = 0; at < value.length; at += 1) yield value.slice(0, at) + value.slice(at + 1);
    }
  }
}

function* smallerObjects(object: JsonObject): Generator<JsonObject> {
  for (const key of Object.keys(object)) {
    const { [key]: _, ...others } = object;
    yield others;
  }
  for (const [key, value] of Object.entries(object)) {
    for (const smaller of smallerValues(value)) yield { ...object, [key]: smaller };
  }
}
