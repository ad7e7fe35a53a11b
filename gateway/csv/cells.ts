/** Texts that spreadsheets run as formulas, and those with apostrophes before. */
const formula = /^'*[=+\-@\t\r]/;
const guarded = /^'+[=+\-@\t\r]/;
const quoted = /[",;\t\r\n]/;

/** A text as a cell that no spreadsheet runs. `plainText` undoes that. */
export function textCell(text: string): string {
  return cell(formula.test(text) ? `'${text}` : text);
}

export function numberCell(number: number): string {
  return String(number);
}

/** The text of a cell, without the apostrophe that `textCell` has added. */
export function plainText(cell: string): string {
  return guarded.test(cell) ? cell.slice(1) : cell;
}

export function rowOf(cells: readonly string[]): string {
  return `${cells.join(',')}\r\n`;
}

function cell(text: string): string {
  return quoted.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
