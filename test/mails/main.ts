import { parseArgs } from 'node:util';
import { hasChromium, noChromium, openBrowser } from '../contract/chromium.ts';
import { corpus, type GivenTemplate } from './corpus/corpus.ts';
import { differencesOf } from './difference.ts';
import { escapesOfEngine } from './escaping/engine.ts';
import { escapesOfMails } from './escaping/mails.ts';
import { pairs, uses } from './escaping/uses.ts';
import { fetchTemplates } from './fetched.ts';
import type { Finding, Findings } from './findings.ts';
import { survivors } from './mutants.ts';
import { openPaths, type Paths } from './paths.ts';
import { randomTemplate } from './random/template.ts';
import { readAlike, shownAlike } from './readers.ts';
import { escapeLines, linesOf } from './report.ts';
import { compareAll } from './run.ts';
import { shrunk } from './shrink.ts';

/**
 * `npm run mails -- --seed 7 --templates 10000`: sent mail, preview and reference of every template
 * of the corpus and of random ones say the same; independent readers agree on the mails; no value
 * becomes markup. Exits 1 with a small example of each kind of difference. `--template 12` runs one
 * random template, `--fetch` adds those of the makers of MJML, `--only corpus` runs one part.
 */
const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    templates: { type: 'string', default: '10000' },
    template: { type: 'string' },
    only: { type: 'string' },
    fetch: { type: 'boolean', default: false },
  },
});
const seed = Number(options.seed);
const amount = Number(options.templates);
if (!Number.isInteger(seed) || !(amount >= 0))
  throw new Error('--seed and --templates are numbers');

const parts: Record<string, (paths: Paths) => Promise<boolean>> = {
  harness: checkHarness,
  corpus: async (paths) => compared(paths, 'corpus', [...corpus(), ...(await fetched())]),
  random: (paths) => compared(paths, 'random', randomTemplates(), amount),
  readers: checkReaders,
  escaping: checkEscaping,
};
const chosen = options.template === undefined ? options.only : 'random';
if (chosen !== undefined && !(chosen in parts)) {
  throw new Error(`--only is one of ${Object.keys(parts).join(', ')}`);
}

say(`Seed ${seed}`);
const paths = await openPaths();
const bad: string[] = [];
try {
  for (const [name, check] of Object.entries(parts)) {
    if (chosen !== undefined && chosen !== name) continue;
    if (!(await check(paths))) bad.push(name);
  }
} finally {
  await paths.close();
}
say(bad.length === 0 ? 'Good.' : `Bad: ${bad.join(', ')}. Seed ${seed}.`);
process.exitCode = bad.length === 0 ? 0 : 1;

function* randomTemplates(): Generator<GivenTemplate> {
  if (options.template !== undefined) yield randomTemplate(seed, Number(options.template));
  else for (let number = 0; number < amount; number += 1) yield randomTemplate(seed, number);
}

async function fetched(): Promise<GivenTemplate[]> {
  if (!options.fetch) return [];
  try {
    return await fetchTemplates();
  } catch (error) {
    say(`The templates of mjmlio can't be fetched: ${error}. The others are compared.`);
    return [];
  }
}

async function compared(
  on: Paths,
  name: string,
  templates: Iterable<GivenTemplate> & { length?: number },
  all = templates.length ?? 0,
): Promise<boolean> {
  const show = progress(name);
  const findings = await compareAll(on, templates, (done, { kinds }) =>
    show(`${done} of ${all} templates, ${kinds.length} kinds of difference`),
  );
  say(summaryOf(name, findings));
  for (const finding of findings.kinds) {
    for (const line of linesOf(await smallest(on, finding))) say(line);
  }
  return findings.kinds.length === 0;
}

function summaryOf(name: string, { mails, different, kinds }: Findings): string {
  return `${name}: ${mails} mails, ${different} of them differ, in ${kinds.length} kinds\n`;
}

/** The finding with a small mail that shows it, if one does on its own. */
async function smallest(on: Paths, finding: Finding): Promise<Finding> {
  const { mail, difference } = finding.example;
  const shown = async (each: typeof mail) =>
    (await differencesOf(on, each)).find(({ kind }) => kind === difference.kind);
  const small = await shrunk(mail, async (each) => (await shown(each)) !== undefined);
  return { ...finding, example: { mail: small, difference: (await shown(small)) ?? difference } };
}

/** The check itself: it finds each of the faults that are planted in paths that are right. */
async function checkHarness(): Promise<boolean> {
  const missed = await survivors([...corpus(), ...sampleOfRandom()]);
  say(
    missed.length === 0
      ? 'harness: every planted fault is found'
      : `harness: not found: ${missed.join('; ')}`,
  );
  return missed.length === 0;
}

function sampleOfRandom(): GivenTemplate[] {
  return Array.from({ length: 20 }, (_, number) => randomTemplate(seed, number));
}

/** Programs that are not ours read the sent mails alike, and a browser shows what it previews. */
async function checkReaders(on: Paths): Promise<boolean> {
  const mails = [...corpus(), ...sampleOfRandom()].flatMap((template) =>
    template.mails.slice(0, 3),
  );
  const unlike = await readAlike(on, mails, progress('readers'));
  for (const line of unlike) say(`    ${line}`);
  say(
    `readers: ${mails.length} mails, ${unlike.length} of them not read alike by Python's email, mailparser and postal-mime`,
  );
  if (!hasChromium) {
    say(`chromium: ${noChromium}`);
    return unlike.length === 0;
  }
  const browser = await openBrowser();
  try {
    const differ = await shownAlike(browser, { paths: on, mails }, progress('chromium'));
    for (const line of differ) say(`    ${line}`);
    say(`chromium: ${differ.length} mails show other words than their previews`);
    return unlike.length + differ.length === 0;
  } finally {
    await browser.close();
  }
}

async function checkEscaping(on: Paths): Promise<boolean> {
  const show = progress('escaping');
  const { escapes, refused } = await escapesOfMails(on, uses, (done, all) =>
    show(`${done} of ${all} uses of Liquid`),
  );
  const all = [...escapes, ...escapesOfEngine(pairs())];
  for (const line of escapeLines(all)) say(line);
  for (const use of refused) say(`    not known, since a value is refused: ${use}`);
  say(`escaping: ${all.length} values became markup, ${refused.length} uses are refused`);
  return all.length === 0;
}

/** A line, in place of the progress on a terminal. */
function say(line: string): void {
  console.log(process.stdout.isTTY ? `\x1b[K${line}` : line);
}

/** Shows how far a part is: in place on a terminal, else every ten seconds. */
function progress(name: string): (state: string) => void {
  const everyMs = process.stdout.isTTY ? 200 : 10_000;
  let last = Date.now();
  return (state) => {
    if (Date.now() - last < everyMs) return;
    last = Date.now();
    process.stdout.write(
      process.stdout.isTTY ? `\r\x1b[K${name}: ${state}\r` : `${name}: ${state}\n`,
    );
  };
}
