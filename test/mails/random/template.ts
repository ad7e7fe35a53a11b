import type { JsonObject } from '@bufbuild/protobuf';
import fc from 'fast-check';
import type { GivenTemplate } from '../corpus/corpus.ts';
import { mjml, subject } from './mjml.ts';
import { values } from './values.ts';

const recipientsPerTemplate = 3;

const template = fc.record({
  mjml,
  subject,
  subjectPreview: fc.option(subject, { nil: undefined, freq: 2 }),
  recipients: fc.array(values, {
    minLength: recipientsPerTemplate,
    maxLength: recipientsPerTemplate,
  }),
});

/** The template of a number; the same for the same seed, whatever else runs. */
export function randomTemplate(seed: number, number: number): GivenTemplate {
  const [drawn] = fc.sample(template, { seed: mixed(seed, number), numRuns: 1 });
  if (!drawn) throw new Error('fast-check drew nothing');
  const { recipients, ...content } = drawn;
  const name = `seed ${seed}, template ${number}`;
  const mails = recipients.map((data, index) => ({
    ...content,
    name: `${name}, recipient ${index + 1}`,
    data: plainOf(data),
  }));
  return { name, mails: [...mails, { ...mails[0]!, name: `${name}, recipient 1 again` }] };
}

/** Numbers that follow each other begin far apart. */
const mixed = (seed: number, number: number) =>
  (Math.imul(seed, 0x9e3779b1) ^ Math.imul(number, 0x85ebca6b)) | 0;

/** Records of fast-check have no prototype, which those of a request have. */
const plainOf = (data: JsonObject): JsonObject => JSON.parse(JSON.stringify(data));
