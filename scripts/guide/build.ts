import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'vitepress';
import { llmsFullText, llmsText } from './llms.ts';
import { navigationOf } from './navigation.ts';
import type { Page } from './page.ts';
import { type Addresses, type Guide, linkedPages, readGuide, root } from './pages.ts';
import { guideFolder } from './site-folder.ts';

const version: string = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;

/** Builds the guide into a folder, which has the guide of before until the new one is whole. */
export async function buildGuide(addresses: Addresses, target: string): Promise<void> {
  removeAbandoned();
  const work = join(guideFolder, `building-${process.pid}`);
  try {
    const pages = join(work, 'pages');
    const built = join(work, 'site');
    const guide = readGuide();
    writePages(pages, guide, addresses.source);
    await build(pages, { outDir: built, base: addresses.base });
    writeMarkdown(built, guide, addresses);
    mkdirSync(dirname(target), { recursive: true });
    if (existsSync(target)) renameSync(target, join(work, 'before'));
    renameSync(built, target);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Writes the folder that VitePress reads. It puts the base before addresses by itself. */
function writePages(folder: string, guide: Guide, source: string): void {
  for (const page of linkedPages(guide, { base: '/', source })) {
    write(join(folder, page.path), withoutVue(page));
  }
  for (const [path, file] of guide.pictures) cpSync(file, join(folder, 'public', path));
  cpSync(join(import.meta.dirname, 'site'), join(folder, '.vitepress'), { recursive: true });
  const settings = { navigation: navigationOf(guide.pages), version };
  write(join(folder, '.vitepress/settings.json'), JSON.stringify(settings));
  // The compiler of VitePress does not know the target of the repository's own.
  write(join(folder, 'tsconfig.json'), '{}');
}

/** Beside each page its Markdown, and all for programs. */
function writeMarkdown(folder: string, guide: Guide, addresses: Addresses): void {
  const pages = linkedPages(guide, addresses);
  for (const { path, text } of pages) write(join(folder, path), text);
  write(join(folder, 'llms.txt'), llmsText(pages, addresses.base));
  write(join(folder, 'llms-full.txt'), llmsFullText(pages, addresses.base));
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Vue would run what stands in double braces outside of code. */
function withoutVue({ path, text }: Page): string {
  const prose = text.replaceAll(/^ {0,3}```[\s\S]*?^ {0,3}```|(`+)[\s\S]*?\1/gm, '');
  if (prose.includes('{{')) throw new Error(`${path}: \`{{\` has to be in backquotes`);
  return text;
}

/** Builds that were killed leave their folders. */
function removeAbandoned(): void {
  if (!existsSync(guideFolder)) return;
  for (const name of readdirSync(guideFolder)) {
    const pid = Number(/^building-(\d+)$/.exec(name)?.[1]);
    if (pid && !isAlive(pid)) rmSync(join(guideFolder, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
