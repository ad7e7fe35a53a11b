import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One recipient of a mail, as sisimai's tests have it. */
export type ExpectedBounce = { status: string; reason: string };

const row = /\{"(\d+)",\s*\d+,\s*"([^"]*)",\s*"[^"]*",\s*"([^"]*)",\s*(?:true|false),\s*"[^"]*"\}/g;
/** Files of the set whose names differ from those of the tests. */
const names: Readonly<Record<string, string>> = {
  'lhost-interscanmss': 'lhost-trendmicro',
  'lhost-mailmarshalsmtp': 'lhost-mailmarshal',
};

/** The recipients of each file of the set, by its name without an end. */
export function expectedIn(folder: string): Map<string, ExpectedBounce[]> {
  const expected = new Map<string, ExpectedBounce[]>();
  for (const file of readdirSync(folder)) {
    const [, given = ''] = /^\d+-(.*)_test\.go$/.exec(file) ?? [];
    // The private list that follows is of mails that are not published.
    const [published = ''] = readFileSync(join(folder, file), 'utf8').split('secretlist');
    for (const [, label = '', status = '', reason = ''] of published.matchAll(row)) {
      const name = `${names[given] ?? given}-${label}`;
      expected.set(name, [...(expected.get(name) ?? []), { status, reason }]);
    }
  }
  return expected;
}
