import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { unique } from '../stack/given.ts';
import { givenWorkspace } from '../stack/given-workspace.ts';
import { ownerToken } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';

const stack = borrowedStack();
const run = promisify(execFile);
const settings = (name: string) => stack.settings[name] ?? '';

const languages: [program: string, file: string][] = [
  ['sh', 'quickstart.sh'],
  [process.execPath, 'quickstart.ts'],
  ['python3', 'quickstart.py'],
];

let workspace: Promise<{ id: string; from: string }> | undefined;

/** Runs a program as it is printed. All languages share a workspace, as a reader's would. */
async function runPrinted(program: string, file: string) {
  workspace ??= givenWorkspace(stack);
  const { id, from } = await workspace;
  const printed = await (await fetch(`${settings('BASE_URL')}/quickstart/${file}`)).text();
  const path = `${stack.folder}/${unique('run')}${file}`;
  writeFileSync(path, printed);
  const env = {
    ...process.env,
    NODE_OPTIONS: '',
    BASE_URL: settings('BASE_URL'),
    TOKEN: await ownerToken(stack.settings),
    WORKSPACE_ID: id,
  };
  const running = run(program, [path], { env, timeout: 60_000 });
  const { stdout, stderr } = await running.catch((failure) => failure);
  return { from, output: `${stdout}${stderr}` };
}

test.each(languages)(
  '%s runs %s as it is printed, and Ada has her mail',
  async (program, file) => {
    const page = await fetch(settings('BASE_URL'));
    expect(await page.text()).toContain(`href="/quickstart/${file}"`);
    const mailsBefore = (await stack.sink.bodies('ada@example.com')).length;
    const { from } = await runPrinted(program, file);
    await until('Ada has her mail', async () => {
      const mails = (await stack.sink.bodies('ada@example.com')).slice(mailsBefore);
      return mails.some((mail) => mail.includes(from) && mail.includes('Subject: Hello Ada'));
    });
  },
  90_000,
);

test.each(languages)(
  '%s says what is wrong when %s runs again',
  async (program, file) => {
    const { output } = await runPrinted(program, file);
    expect(output).toContain('already exists');
  },
  90_000,
);
