import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { good, unique } from '../stack/given.ts';
import { ownerToken } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';

const stack = borrowedStack();
const run = promisify(execFile);
const settings = (name: string) => stack.settings[name] ?? '';

/** A new workspace that sends to the sink, as `npm start` makes one. */
async function givenWorkspace(): Promise<{ id: string; from: string }> {
  const token = await ownerToken(stack.settings);
  const call = async (operation: string, body: object) =>
    good(await stack.call(operation, body, { token }));
  const id = unique('q');
  const from = `${id}@example.com`;
  const { hostname: host, port } = new URL(settings('SMTP_URL'));
  await call('workspaces.create', { id, name: 'Quickstart' });
  const provider = {
    kind: 'smtp',
    smtp: { host, port: Number(port), username: '', password: '', use_tls: false },
    senders: [{ email: from, name: 'Postrider', is_default: true }],
    rate_limit_per_minute: 600,
  };
  const integration = { workspace_id: id, name: 'Sink', type: 'email', provider };
  const { integration_id } = await call('workspaces.createIntegration', integration);
  const chosen = { marketing_email_provider_id: integration_id };
  await call('workspaces.update', { id, name: 'Quickstart', settings: chosen });
  return { id, from };
}

test.each([
  ['sh', 'quickstart.sh'],
  [process.execPath, 'quickstart.ts'],
  ['python3', 'quickstart.py'],
])(
  '%s runs %s as it is printed, and Ada has her mail',
  async (program, file) => {
    const { id, from } = await givenWorkspace();
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
