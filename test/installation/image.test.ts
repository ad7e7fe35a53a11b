import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { makeImageFolder } from './image.ts';

const folder = mkdtempSync(join(tmpdir(), 'postrider-image-'));
beforeAll(() => makeImageFolder(folder));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Ended = { code: unknown; stdout: string; stderr: string };

function node(...args: string[]): Promise<Ended> {
  return new Promise((ended) => {
    const given = { cwd: folder, env: { PATH: process.env.PATH ?? '', HOME: folder } };
    execFile(process.execPath, args, given, (error, stdout, stderr) =>
      ended({ code: error ? error.code : 0, stdout, stderr }),
    );
  });
}

const program = 'deploy/postrider/main.ts';

test('the image says how to use it, and tells an unknown word', async () => {
  const help = await node(program, 'help');
  expect(help).toMatchObject({ code: 0, stderr: expect.stringContaining('postrider <word>') });
  const unknown = await node(program, 'people');
  expect(unknown.code).toBe(1);
  expect(unknown.stderr).toContain('people is not a word of postrider');
});

test('the image has the command line of callers', async () => {
  expect(await node(program, 'lists', '--help')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('subscribe'),
  });
  const { code, stderr } = await node(program, 'lists', 'list');
  expect([code, stderr]).toEqual([2, expect.stringContaining('postrider login')]);
});

test('the image has every module that a word of the program loads', async () => {
  const main = readFileSync(join(folder, program), 'utf8');
  const commands = [...main.matchAll(/import\('\.(\/[^']+)'\)/g)].map(([, path]) => path);
  expect(commands).toContain('/doctor/doctor.ts');
  writeFileSync(
    join(folder, 'deploy/postrider/load.ts'),
    `import { partsOf } from './parts.ts';
     import './rotate-secrets.ts';
     for (const path of ${JSON.stringify(commands)}) await import(\`.\${path}\`);
     console.log((await partsOf('all')).flat().map(({ name }) => name).join(' '));
     process.exit();`,
  );
  expect(await node('deploy/postrider/load.ts')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^workspaces .*webhooks-worker gateway inbound relay\n$/),
  });
});

test('the image bundles its workflows while it is built', async () => {
  expect(await node(program, 'bundle', join(folder, 'cache'))).toMatchObject({ code: 0 });
});
