import type { Table } from '../../gateway/docs/page.ts';

/** A page of the guide in Markdown. */
export type Page = {
  /** Below the guide, such as `guides/webhooks.md`. */
  path: string;
  /** The file of the repository that it shows; undefined if it is made from the contract. */
  source?: string;
  text: string;
};

/** The first heading of a page, without marks of code. */
export function titleOf({ path, text }: Page): string {
  const [, title] = /^# (.+)$/m.exec(text) ?? [];
  if (title === undefined) throw new Error(`${path} has no title`);
  return title.replaceAll('`', '').replace(/^\d+\. /, '');
}

/** The first paragraph under the title on one line, at most 200 characters, without links. */
export function summaryOf({ text }: Page): string {
  const paragraphs =
    text
      .split(/^# .+$/m)[1]
      ?.trim()
      .split(/\n{2,}/) ?? [];
  const first = paragraphs.find((paragraph) => /^[\p{L}`*[]/u.test(paragraph)) ?? '';
  const plain = first.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/\s+/g, ' ');
  const [sentence = ''] = plain.match(/^.+?\.(?= |$)/) ?? [plain];
  return sentence.length <= 200 ? sentence : `${sentence.slice(0, 199)}…`;
}

/** Rows whose cells may hold line breaks and bars. */
export function markdownTable({ heads, rows }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}

function cell(text: string): string {
  return text
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll('``', '')
    .replaceAll('|', '\\|');
}
