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

test.each([
  ['sh', 'quickstart.sh'],
  [process.execPath, 'quickstart.ts'],
  ['python3', 'quickstart.py'],
])(
  '%s runs %s as it is printed, and Ada has her mail',
  async (program, file) => {
    const { id, from } = await givenWorkspace(stack);
    const page = await fetch(settings('BASE_URL'));
    expect(await page.text()).toContain(`href="/quickstart/${file}"`);
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
    await run(program, [path], { env, timeout: 60_000 });
    await until('Ada has her mail', async () => {
      const mails = await stack.sink.bodies('ada@example.com');
      return mails.some((mail) => mail.includes(from) && mail.includes('Subject: Hello Ada'));
    });
  },
  90_000,
);
