import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { describeVariables, readEnv } from '#lib/config.ts';
import type { Env } from '#lib/env.ts';
import { knownVariables } from '../deploy/postrider/unknown-variables.ts';
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
    [...textOf(file).matchAll(/process\.env\.(\w+)|process\.env\[/g)].map(
      ([, name = '[]']) => `${file}: ${name}`,
    ),
  );
  expect(reading.sort()).toEqual(
    [
      // For programs that it starts.
      'deploy/local/parts.ts: NODE_COMPILE_CACHE',
      'deploy/local/temporal.ts: PATH',
      // What `npm run keys -- --from` makes keys of.
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

/** Of Kubernetes' own resources, and of programs under ours. */
const ofOthers = ['ALL', 'NODE_ENV'];

test.each([
  ['the chart', globSync('deploy/helm/postrider/templates/*', { cwd: root })],
  ['the image', ['deploy/Dockerfile']],
])('%s sets only variables that something reads', (_, files) => {
  const text = files.map(textOf).join('\n');
  const set = [
    ...text.matchAll(/(?:set \$env |dict |" )"([A-Z_]+)"/g),
    ...text.matchAll(/printf "(%s_[A-Z_]+)"/g),
    ...text.matchAll(/name: (\{\{[^}]*\}\}_[A-Z_]+)/g),
    ...text.matchAll(/^(?:ENV)? +([A-Z_]+)=/gm),
  ].map(([, name = '']) => name.replace(/^%s|^\{\{.*\}\}/, 'CONTACTS'));
  expect(set.length).toBeGreaterThan(2);
  const known = knownVariables();
  expect(set.filter((name) => !known.includes(name) && !ofOthers.includes(name))).toEqual([]);
});
