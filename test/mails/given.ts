import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { JsonObject } from '@bufbuild/protobuf';

/** A template in the style of a real maker, with the values of one recipient. */
export type GivenMail = { name: string; mjml: string; subject: string; data: JsonObject };

const folder = import.meta.dirname;

export const givenMails: GivenMail[] = globSync('*.mjml', { cwd: folder })
  .toSorted()
  .map((file) => {
    const name = basename(file, '.mjml');
    const { subject, data } = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
    return { name, mjml: readFileSync(join(folder, file), 'utf8'), subject, data };
  });
