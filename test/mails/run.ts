import type { GivenTemplate } from './corpus/corpus.ts';
import { differencesOf } from './difference.ts';
import { Findings } from './findings.ts';
import type { Paths } from './paths.ts';

type Progress = (done: number, findings: Findings) => void;

/** Compares all mails of templates, one after the other. */
export async function compareAll(
  paths: Paths,
  templates: Iterable<GivenTemplate>,
  onProgress: Progress = () => {},
): Promise<Findings> {
  const findings = new Findings();
  let done = 0;
  for (const { name, mails } of templates) {
    for (const mail of mails) findings.add(name, mail, await differencesOf(paths, mail));
    done += 1;
    onProgress(done, findings);
  }
  return findings;
}
