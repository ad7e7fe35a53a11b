import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { describeVariables, readEnv } from '#lib/config.ts';
import { type Env, required } from '#lib/env.ts';
import { unknownNames } from '../deploy/postrider/unknown-variables.ts';
import { describedBy, readers, readLocal, root } from '../scripts/variables/described.ts';
import { generatedFiles } from '../scripts/variables/files.ts';
import { readCompose } from './installation/compose-file.ts';
import { misfits } from './installation/variables.ts';

const textOf = (file: string) => readFileSync(join(root, file), 'utf8');
const local = { name: 'npm start', read: readLocal };
const all = [...(await readers()), local];

test('the lists of variables say what their reads say; `npm run gen` makes them', async () => {
  for (const [file, text] of await generatedFiles())
    expect({ file, text: textOf(file) }).toEqual({ file, text });
});

test.each(all)('each variable that $name reads is described', ({ read }) => {
  const asked = new Set<string>();
  const env = new Proxy<Env>({}, { get: (_, name) => void asked.add(String(name)) });
  try {
    readEnv(env, read);
  } catch (error) {
    // It asks for all before it fails.
    expect(String(error)).toContain('is not set');
  }
  const described = describeVariables(read).flatMap(({ name, isSecret }) =>
    isSecret ? [name, `${name}_FILE`] : [name],
  );
  expect([...asked].sort()).toEqual([...new Set(described)].sort());
});

test.each(all)('each variable of $name has one text, of whole sentences', ({ read }) => {
  const described = describedBy(read);
  expect(described).not.toEqual([]);
  const names = described.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)]);
  for (const { about } of described) expect(about).toMatch(/^[A-Z`].*\.$/);
});

test('an environment is read by what describes it', () => {
  const sources = ['gateway', 'services', 'workflows', 'lib', 'deploy']
    .flatMap((part) => globSync(`${part}/**/*.ts`, { cwd: root }))
    .filter((file) => !/\.test\.ts$|\/test\//.test(file));
  const reading = sources.flatMap((file) =>
    [...textOf(file).matchAll(/process\.env\.(\w+)|process\.env\[|\}\s*=\s*process\.env/g)].map(
      ([, name = 'several']) => `${file}: ${name}`,
    ),
  );
  expect(reading.sort()).toEqual(
    [
      // For programs that it starts.
      'deploy/local/parts.ts: NODE_COMPILE_CACHE',
      'deploy/local/temporal.ts: PATH',
      // Variables that programs it starts do not inherit.
      'deploy/local/parts.ts: several',
      // A sample program.
      'gateway/docs/quickstart/quickstart.ts: several',
      // The source of keys for `npm run keys -- --from`.
      'deploy/keys/main.ts: SECRET_KEY',
    ].sort(),
  );
});

test('compose gives each process the variables that it needs, and none that nothing reads', async () => {
  const containers = readCompose(join(root, 'deploy/compose.yaml'), {});
  expect(misfits(containers, await readers())).toEqual([]);
});

test('the documentation of compose names what `.env` may set', () => {
  const names = [...textOf('deploy/compose.yaml').matchAll(/\$\{(\w+)/g)].map(([, name]) => name);
  const [, documented = ''] =
    /`\.env` beside `compose\.yaml` may set([^.]*)\./.exec(textOf('deploy/README.md')) ?? [];
  expect([...documented.matchAll(/`(\w+)`/g)].map(([, name]) => name).sort()).toEqual(
    [...new Set(names)].sort(),
  );
});

/** The names that a file sets, as it writes them; those of a service as those of contacts. */
function namesSetBy(text: string): string[] {
  return [
    ...text.matchAll(/"([A-Z_]{2,})"/g),
    ...text.matchAll(/printf "(%s_[A-Z_]+)"/g),
    ...text.matchAll(/name: (\{\{[^}]*\}\}_[A-Z_]+)/g),
    ...text.matchAll(/^(?:ENV)? +([A-Z_]+)=/gm),
  ].map(([, name = '']) => name.replace(/^%s|^\{\{.*\}\}/, 'CONTACTS'));
}

const chart = globSync('deploy/helm/postrider/templates/*', { cwd: root }).map(textOf).join('\n');

test.each([
  ['the chart', chart, 20],
  ['the image', textOf('deploy/Dockerfile'), 3],
])('%s sets only variables that something reads', (_, text, least) => {
  const names = namesSetBy(text).filter((name) => name !== 'NODE_ENV');
  expect(names.length).toBeGreaterThanOrEqual(least);
  expect(unknownNames(names)).toEqual([]);
});

test('the chart sets every variable that a process must have', async () => {
  const needed = (await readers())
    .flatMap(({ read }) => describedBy(read))
    .filter(({ fallback }) => fallback === required)
    .map(({ name }) => name.replace('<NAME>', 'CONTACTS'));
  const names = namesSetBy(chart).map((name) => name.replace(/_FILE$/, ''));
  expect([...new Set(needed)].filter((name) => !names.includes(name))).toEqual([]);
});
