import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';

const root = resolve(import.meta.dirname, '..');
const columnsMax = 100;
const folders = 'bench,clients,deploy,gateway,lib,scripts,services,test,workflows';
/** Made files have comments of the contract, which stand below; built ones are made of others. */
const isMade = (file: string) => /\/(made|dist)\//.test(file);
const files = globSync(`{${folders}}/**/*.ts`, { cwd: root }).filter((file) => !isMade(file));
const contracts = globSync('proto/postrider/**/*.proto', { cwd: root });
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...globSync('{docs,bench,clients,test}/**/*.md', { cwd: root }),
];

/** Say the amount, the field's term or the plain verb instead; `docs/words.md` has the terms. */
const phrases: readonly RegExp[] = [
  /\bso[ -](many|much|few|often)\b/i,
  /\bfor so long\b/i,
  /\b(am|are|be|been|being|gets?|is|was|were) told\b/i,
  /\bjudg(e[ds]?|ing|e?ment)\b/i,
  /\b(lay|lays|laid)\b(?! out)/i,
  /\bcan not\b/i,
  /\bstrangers?\b/i,
  /\bneighbours?\b/i,
];
/** A sentence needs a subject that a reader can name. */
const headless = /(?<=^|[.:;] )(Those|What|Whatever|Who|Whoever|Whose)\b/;

const nameless = /^(of|those|what|whatever|who|whoever|whose)\b/;

type Text = { at: string; text: string };

const linesOf = (file: string) => readFileSync(join(root, file), 'utf8').split('\n');
const isComment = /^\s*(\/\/(?! biome-ignore)|\/?\*)/;

/** Paragraphs of comments, each without its line breaks. */
function paragraphsOf(file: string): Text[] {
  const paragraphs: Text[] = [];
  let isOpen = false;
  for (const [index, line] of linesOf(file).entries()) {
    const text = line.replace(/^\s*(\/\/|\/?\*+)\/?|\*\/.*/g, '').trim();
    const goesOn = isComment.test(line) && text !== '';
    if (goesOn && isOpen) paragraphs.at(-1)!.text += ` ${text}`;
    else if (goesOn) paragraphs.push({ at: `${file}:${index + 1}`, text });
    isOpen = goesOn && !line.includes('*/');
  }
  return paragraphs;
}

function testNamesOf(file: string): Text[] {
  const source = linesOf(file).join('\n');
  const names = source.matchAll(/(?:\btest\(|[\])]\)\()\s*(['"`])((?:(?!\1)[^\\]|\\.)*)\1/g);
  return [...names].map(([, , text = '']) => ({ at: `${file}: test`, text }));
}

const ofPage = (file: string): Text[] =>
  linesOf(file).map((text, index) => ({ at: `${file}:${index + 1}`, text }));

/** Code keeps the names that are stored. */
const withoutCode = (text: string) => text.replace(/`[^`]*`/g, '');

function faultsOf(texts: readonly Text[], rules: readonly RegExp[]): string[] {
  return texts.flatMap(({ at, text }) => {
    const rule = rules.find((each) => each.test(withoutCode(text)));
    return rule ? [`${at}: ${rule.exec(withoutCode(text))?.[0]}: ${text.slice(0, 80)}`] : [];
  });
}

test(`comments have at most ${columnsMax} columns`, () => {
  expect(files.length).toBeGreaterThan(1_000);
  const wide = files.flatMap((file) =>
    linesOf(file).flatMap((line, index) =>
      isComment.test(line) && [...line].length > columnsMax ? [`${file}:${index + 1}`] : [],
    ),
  );
  expect(wide).toEqual([]);
});

test('comments have subjects, and none of the phrases', () => {
  expect(faultsOf([...files, ...contracts].flatMap(paragraphsOf), [...phrases, headless])).toEqual(
    [],
  );
});

test('names of tests have subjects, and none of the phrases', () => {
  const names = files.filter((file) => file.endsWith('.test.ts')).flatMap(testNamesOf);
  expect(names.length).toBeGreaterThan(2_000);
  expect(faultsOf(names, [...phrases, nameless])).toEqual([]);
});

test('pages of docs have none of the phrases', () => {
  expect(faultsOf(pages.flatMap(ofPage), phrases)).toEqual([]);
});
