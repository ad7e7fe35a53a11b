import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { JsonObject } from '@bufbuild/protobuf';

/** A template in the style of a real maker, with the values of one recipient. */
export type GivenMail = {
  name: string;
  subject: string;
  mjml: string;
  /** Liquid; the mail has no preview line of its own without it. */
  subjectPreview?: string;
  /** Liquid; derived from the HTML without it. */
  text?: string;
  /** `contact` has the fields of the contact; all else stands at Liquid's top level. */
  data: JsonObject;
};

const folder = import.meta.dirname;

export const givenMails: GivenMail[] = globSync('*.mjml', { cwd: folder })
  .toSorted()
  .map((file) => {
    const name = basename(file, '.mjml');
    const { subject, data } = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
    return { name, mjml: readFileSync(join(folder, file), 'utf8'), subject, data };
  });
