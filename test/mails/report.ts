import type { Escape } from './escaping/uses.ts';
import type { Finding } from './findings.ts';
import type { GivenMail } from './given.ts';

/** Findings in words, for a person who works through them. */

const lengthMax = 1_500;
const clipped = (text: string) =>
  text.length > lengthMax ? `${text.slice(0, lengthMax)}… (${text.length} characters)` : text;

export function linesOf({ kind, count, templates, example }: Finding): string[] {
  const { mail, difference } = example;
  return [
    `${count} × ${kind}`,
    `    in ${templates.size} templates; ${mail.name}`,
    `    got       ${JSON.stringify(difference.got)}`,
    `    expected  ${JSON.stringify(difference.expected)}`,
    ...mailLines(mail).map((line) => `    ${line}`),
    '',
  ];
}

function mailLines({ mjml, subject, subjectPreview, text, data }: GivenMail): string[] {
  const others = [
    ...(subject === 'S' ? [] : [`subject   ${subject}`]),
    ...(subjectPreview ? [`preview   ${subjectPreview}`] : []),
    ...(text ? [`text      ${text}`] : []),
  ];
  return [`template  ${clipped(mjml)}`, ...others, `values    ${clipped(JSON.stringify(data))}`];
}

/** One example of each path and element. */
export function escapeLines(escapes: readonly Escape[]): string[] {
  const groups = Map.groupBy(
    escapes,
    ({ path, surplus }) => `${path}: ${surplus[0]?.split(' ')[0]}`,
  );
  return [...groups].flatMap(([name, [example, ...others]]) => [
    `${others.length + 1} × ${name} …`,
    `    use    ${example?.use}`,
    `    value  ${JSON.stringify(example?.value)}`,
    `    makes  ${example?.surplus.join(' ')}`,
    '',
  ]);
}
