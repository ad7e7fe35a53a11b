import { withoutControls } from './terminal.ts';

const gap = '  ';
const cellMax = 40;
const widthDefault = 100;

type Row = Record<string, unknown>;

/** An answer for people: a table of its one list, else a line for each field. */
export function textForPeople(answer: unknown, width = widthDefault): string {
  if (Array.isArray(answer)) return table(answer, width);
  if (typeof answer !== 'object' || answer === null) return String(answer);
  const fields = Object.entries(answer);
  const lists = fields.filter(([, value]) => isTable(value));
  const [[name, rows] = ['', []]] = lists;
  if (lists.length === 1 && Array.isArray(rows)) {
    const others = fields.filter(([field, value]) => field !== name && isShown(value));
    return [table(rows, width), ...others.map(([field, value]) => `${field}: ${cell(value)}`)].join(
      '\n',
    );
  }
  const [[, only] = []] = fields;
  if (fields.length === 1 && typeof only === 'object' && only !== null)
    return textForPeople(only, width);
  return lines(answer);
}

const isTable = (value: unknown): boolean =>
  Array.isArray(value) && value.every((row) => typeof row === 'object' && row !== null);

const isShown = (value: unknown): boolean => value !== null && value !== undefined && value !== '';

function lines(answer: object): string {
  const shown = Object.entries(answer).filter(([, value]) => isShown(value));
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${name.padEnd(width)}${gap}${cell(value)}`).join('\n');
}

/** As many columns as fit, those without a value left out. */
function table(rows: readonly Row[], width: number): string {
  if (rows.length === 0) return 'none';
  const names = [...new Set(rows.flatMap(Object.keys))].filter((name) =>
    rows.some((row) => isShown(row[name]) && typeof row[name] !== 'object'),
  );
  const columns: { name: string; width: number }[] = [];
  let used = 0;
  for (const name of names) {
    const widest = Math.max(name.length, ...rows.map((row) => cut(cell(row[name])).length));
    if (columns.length > 0 && used + widest > width) break;
    columns.push({ name, width: widest });
    used += widest + gap.length;
  }
  const line = (textOf: (name: string) => string) =>
    columns
      .map((column) => textOf(column.name).padEnd(column.width))
      .join(gap)
      .trimEnd();
  return [
    line((name) => name.toUpperCase()),
    ...rows.map((row) => line((name) => cut(cell(row[name])))),
  ].join('\n');
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  return oneLine(typeof value === 'object' ? JSON.stringify(value) : String(value));
}

const oneLine = (text: string): string => withoutControls(text).replaceAll(/\s+/g, ' ');

const cut = (text: string): string =>
  text.length > cellMax ? `${text.slice(0, cellMax - 1)}…` : text;
