import { types } from 'pg';

/** The driver's types lack it. */
const textArray: number = 1009;
/** What has to be read character by character. */
const needsCare = /["\\]|.\{|[{,]null[,}]/i;

/** Has the driver read `text[]` by splitting it: its own way takes ten times as long for the addresses of a slice. */
export function readTextArraysFast(): void {
  const parse: (text: string) => unknown = types.getTypeParser(textArray);
  types.setTypeParser(textArray, (text: string) =>
    needsCare.test(text) || !text.startsWith('{') ? parse(text) : split(text),
  );
}

function split(text: string): string[] {
  return text === '{}' ? [] : text.slice(1, -1).split(',');
}
