import { createHash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { contentSecurityPolicy } from '#lib/html/content-security-policy.ts';
import { pageHeaders } from '../html/headers.ts';
import type { HttpAnswer } from '../http/answer.ts';

/** The guide has some 500 files. */
const filesMax = 5_000;
/** The largest file, `llms-full.txt`, has a megabyte. */
const fileMaxBytes = 8 * 1_024 * 1_024;
/** Most of what readers of one day open, with its form in gzip. */
const keptMaxBytes = 16 * 1_024 * 1_024;
/** How often a new build is looked for, while somebody reads. */
const lookEveryMs = 1_000;

const pack = promisify(gzip);

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

/** A build of the guide: the files that were there when it was found, and the answers in use. */
type Build = {
  mark: string;
  files: ReadonlySet<string>;
  answers: LRUCache<string, HttpAnswer>;
};

/**
 * The files of a folder as answers, each read when it is first asked for. A path that was not found
 * in the folder is never opened, so that no path leaves it; symbolic links are not followed. A new
 * build in place of the folder is seen within a second.
 */
export class GuideFolder {
  readonly #folder: string;
  #build: Build | undefined;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The paths of a build; undefined if there is none, or one that has no first page yet. */
  async files(): Promise<ReadonlySet<string> | undefined> {
    if (performance.now() - this.#lookedAtMs > lookEveryMs) {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
      await this.#looking;
    }
    return this.#build?.files.has('index.html') ? this.#build.files : undefined;
  }

  /** The answer of a path among `files`; undefined if it has gone meanwhile. */
  async answer(path: string): Promise<HttpAnswer | undefined> {
    const build = this.#build;
    if (!build?.files.has(path)) return undefined;
    try {
      return await build.answers.fetch(path);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  async #look(): Promise<void> {
    try {
      const { ino, mtimeMs } = await stat(this.#folder);
      const mark = `${ino} ${mtimeMs}`;
      if (mark !== this.#build?.mark) this.#build = await openBuild(this.#folder, mark);
    } catch (error) {
      // The moment between two builds, or none yet.
      if (!isMissing(error)) throw error;
    }
    this.#lookedAtMs = performance.now();
  }
}

const isMissing = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

async function openBuild(folder: string, mark: string): Promise<Build> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = new Set(entries.filter(isServed).map((entry) => pathOf(folder, entry)));
  if (files.size > filesMax) throw new Error(`${folder} has more than ${filesMax} files`);
  const answers = new LRUCache<string, HttpAnswer>({
    maxSize: keptMaxBytes,
    sizeCalculation: ({ body, packed }) => Buffer.byteLength(body) + (packed?.length ?? 0) + 1,
    fetchMethod: (path) => readAnswer(join(folder, path), path),
  });
  return { mark, files, answers };
}

const isServed = (entry: Dirent) => entry.isFile() && extname(entry.name) in types;
const pathOf = (folder: string, { parentPath, name }: Dirent) =>
  relative(folder, join(parentPath, name));

async function readAnswer(file: string, path: string): Promise<HttpAnswer> {
  const { size } = await stat(file);
  if (size > fileMaxBytes) throw new Error(`${file} has more than ${fileMaxBytes} bytes`);
  const body = await readFile(file);
  const extension = extname(path);
  const isDense = extension === '.png';
  const etag = `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  const headers = {
    ...pageHeaders(extension === '.html' ? policyOf(body.toString()) : policyOfFile),
    'content-type': types[extension] ?? 'application/octet-stream',
    'cache-control': cacheOf(path),
    etag,
  };
  return { status: 200, headers, body, ...(isDense ? { isDense } : { packed: await pack(body) }) };
}

/** Files of `assets` are named by their content. Pages and `hashmap.json` name those of a build. */
function cacheOf(path: string): string {
  if (/^assets\/.*\.[\w-]{8,}\.\w+$/.test(path)) return 'public, max-age=31536000, immutable';
  return /\.(?:html|json)$/.test(path) ? 'public, no-cache' : 'public, max-age=300';
}

/** A picture that is opened as a page may have its own style, and nothing else. */
const policyOfFile = contentSecurityPolicy({ style: "'unsafe-inline'" });

function policyOf(page: string): string {
  const inline = [...page.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)];
  return contentSecurityPolicy({
    scripts: "'self'",
    inlineScripts: inline.map(([, text = '']) => text),
    // Coloured code has its colours beside each word.
    style: "'unsafe-inline'",
    sheets: "'self'",
    images: ["'self'", 'data:'],
    requests: "'self'",
  });
}
