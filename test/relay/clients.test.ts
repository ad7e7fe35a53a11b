import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { beforeAll, expect, test } from '@jest/globals';
import { createTransport } from 'nodemailer';
import PostalMime from 'postal-mime';
import { givenList, good, importContacts, unique } from '../stack/given.ts';
import { givenWebhook } from '../stack/given-webhook.ts';
import { givenWorkspace } from '../stack/given-workspace.ts';
import { ownerToken } from '../stack/owner.ts';
import { borrowedStack } from '../stack/shared.ts';
import { until } from '../stack/until.ts';
import { givenSignedIn, send, untilTaking } from './given-relay.ts';

/*
 * Clients of other systems, a gateway's key, and the services behind it, as processes.
 */

const stack = borrowedStack();
beforeAll(() => untilTaking(stack), 70_000);
const withinMs = 30_000;

const has = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
const withProgram = (program: string, isAble = () => true) => {
  if (has(program) && isAble()) return test;
  process.stderr.write(`${program} is not installed, or without TLS, so its test is skipped.\n`);
  return test.skip;
};
/** The library for TLS is a package of its own. */
const swaksHasTls = () =>
  /^=== TLS supported/m.test(spawnSync('swaks', ['--support']).output.join());

/** A workspace with a sender, and a key that may send. */
async function givenKey(permissions?: object) {
  const { id, from } = await givenWorkspace(stack);
  const token = await ownerToken(stack.settings);
  const body = { workspace_id: id, email_prefix: unique('key'), permissions };
  const made = good(await stack.call('workspaces.createAPIKey', body, { token }));
  const port = Number(new URL(stack.settings.RELAY_URL ?? '').port);
  return { id, from, port, key: String(made.token), keyId: String(made.id), token };
}

const mailOf = (from: string, to: string, more = '') =>
  `From: News <${from}>\r\nTo: ${to}\r\nSubject: Hi\r\n${more}\r\nHello\r\n.dot\r\n`;

async function arrived(to: string): Promise<string> {
  await until('the mail arrives', async () => (await stack.sink.bodies(to)).length > 0, {
    withinMs,
  });
  return (await stack.sink.bodies(to))[0] ?? '';
}

/** Runs a program to its end. */
async function run(program: string, args: readonly string[], input = '') {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end(input);
  const closed = once(child, 'close');
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [status] = await closed;
  return { status, out: out + errors };
}

test('nodemailer sends to several recipients, and the history has what its fields say', async () => {
  const { id, from, port, key } = await givenKey();
  const [one, two] = [`${unique('one')}@example.com`, `${unique('two')}@example.com`];
  const transport = createTransport({
    ...{ host: '127.0.0.1', port, tls: { rejectUnauthorized: false } },
    auth: { user: 'anything', pass: key },
  });
  const { response } = await transport.sendMail({
    ...{ from, to: [one, two], bcc: 'hidden@example.com', subject: 'Grüße', text: 'Hällo' },
    headers: { 'X-PM-Tag': 'welcome', 'Postrider-Metadata-Order': '1042' },
  });
  transport.close();
  expect(response).toMatch(/^250 2\.0\.0 queued as (?:[0-9a-f-]{36} ?){3}$/);
  const body = await arrived(one);
  expect(body).not.toMatch(/hidden|x-pm|postrider-metadata/i);
  const token = await ownerToken(stack.settings);
  const query = { workspace_id: id, tag: 'welcome' };
  const { messages } = good(await stack.call('messages.list', undefined, { query, token }));
  expect(messages).toHaveLength(3);
  expect(messages[0]).toMatchObject({
    ...{ tags: ['welcome'], message_data: { metadata: { Order: '1042' } } },
    raw_content: { subject: 'Grüße', from_email: from },
  });
});

withProgram('python3')('Python’s smtplib sends by STARTTLS', async () => {
  const { from, port, key } = await givenKey();
  const to = `${unique('python')}@example.com`;
  const script = [
    'import smtplib, ssl, sys',
    'context = ssl._create_unverified_context()',
    `with smtplib.SMTP('127.0.0.1', ${port}) as server:`,
    '    server.starttls(context=context)',
    `    server.login('any', sys.argv[1])`,
    `    print(server.sendmail('${from}', ['${to}'], sys.stdin.buffer.read()))`,
  ].join('\n');
  const { status, out } = await run('python3', ['-c', script, key], mailOf(from, to));
  expect([status, out.trim()]).toEqual([0, '{}']);
  expect(await arrived(to)).toContain('\r\nHello\r\n..dot\r\n');
});

withProgram('swaks', swaksHasTls)('swaks sends', async () => {
  const { from, port, key } = await givenKey();
  const to = `${unique('swaks')}@example.com`;
  const auth = ['--auth', 'LOGIN', '--auth-user', 'any', '--auth-password', key];
  const args = ['--server', '127.0.0.1', '--port', String(port), '--tls', ...auth];
  const { status, out } = await run('swaks', [...args, '--from', from, '--to', to]);
  expect([status, /250 2\.0\.0 queued as /.test(out)]).toEqual([0, true]);
  await arrived(to);
});

withProgram('msmtp')('msmtp sends', async () => {
  const { from, port, key } = await givenKey();
  const to = `${unique('msmtp')}@example.com`;
  const args = ['--host=127.0.0.1', `--port=${port}`, '--tls=on', '--tls-certcheck=off'];
  const auth = ['--auth=plain', '--user=any', `--passwordeval=echo ${key}`, `--from=${from}`];
  const mail = mailOf(from, to).replaceAll('\r\n', '\n');
  const { status, out } = await run('msmtp', ['--file=/dev/null', ...args, ...auth, to], mail);
  expect([status, out]).toEqual([0, '']);
  await arrived(to);
});

/** Where Debian's package `libphp-phpmailer` has it. */
const phpMailer = '/usr/share/php/libphp-phpmailer/autoload.php';

(existsSync(phpMailer) ? withProgram('php') : test.skip)(
  'PHPMailer sends HTML with a file, as WordPress does',
  async () => {
    const { from, port, key } = await givenKey();
    const to = `${unique('php')}@example.com`;
    const script = `require '${phpMailer}';
      $mail = new PHPMailer\\PHPMailer\\PHPMailer(true);
      $mail->isSMTP();
      $mail->Host = '127.0.0.1';
      $mail->Port = ${port};
      $mail->SMTPAuth = true;
      $mail->SMTPSecure = 'tls';
      $mail->SMTPOptions = ['ssl' => ['verify_peer' => false, 'verify_peer_name' => false]];
      $mail->Username = 'apikey';
      $mail->Password = $argv[1];
      $mail->CharSet = 'UTF-8';
      $mail->setFrom('${from}', 'Blog');
      $mail->addAddress('${to}');
      $mail->Subject = 'Neuer Kommentar für dich';
      $mail->isHTML(true);
      $mail->Body = '<p>Grüße</p>';
      $mail->AltBody = 'Grüße';
      $mail->addStringAttachment('a,b', 'list.csv');
      $mail->send();
      echo $mail->getSMTPInstance()->getLastTransactionID();`;
    const { status, out } = await run('php', ['-r', script, '--', key]);
    expect([status, out]).toEqual([0, expect.any(String)]);
    expect(await arrived(to)).toMatch(/Content-Disposition: attachment; filename=list\.csv/);
  },
);

/** By the key of the stack's own workspace, which counts opens and clicks. */
async function sendHtml(to: string, fields: string) {
  const { RELAY_URL = '', TOKEN = '' } = stack.settings;
  const client = await givenSignedIn(Number(new URL(RELAY_URL).port), TOKEN);
  const html = '<p>Hello</p><a href="https://honey.example/?a=1&amp;b=2">Honey</a>';
  const type = 'Content-Type: text/html; charset=utf-8\r\n';
  const mail = `From: hello@example.com\r\nSubject: Hi\r\n${fields}${type}\r\n${html}\r\n`;
  expect(await send(client, { to: [to], mail })).toMatch(/^250 2\.0\.0 /);
  client.socket.destroy();
  return PostalMime.parse(Buffer.from(await arrived(to), 'latin1'));
}

const visited = async (url: string | undefined, method = 'GET') => {
  const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Firefox/128.0' };
  const answer = await fetch(url ?? '', { method, headers, redirect: 'manual' });
  await answer.arrayBuffer();
  return answer;
};

const messageTo = async (email: string) => {
  const query = { workspace_id: stack.workspaceId, contact_email: email };
  return good(await stack.call('messages.list', undefined, { query })).messages[0];
};

test('opens and clicks of a mail are in its record, and are events', async () => {
  const types = ['email.opened', 'email.clicked'];
  const { callbacks, untilCalled } = await givenWebhook(stack, types);
  const to = `${unique('counted')}@example.com`;
  const fields = 'X-PM-TrackOpens: true\r\nX-PM-TrackLinks: HtmlOnly\r\n';
  const { html = '' } = await sendHtml(to, fields);
  await visited(/src="([^"]+\/t\/[^"]+)"/.exec(html)?.[1]);
  const click = await visited(/href="([^"]+\/r\/[^"]+)"/.exec(html)?.[1]);
  expect([click.status, click.headers.get('location')]).toEqual([
    302,
    'https://honey.example/?a=1&b=2',
  ]);
  await untilCalled(types, to);
  const { id, opened_at, clicked_at } = await messageTo(to);
  expect([typeof opened_at, typeof clicked_at]).toEqual(['string', 'string']);
  const own = callbacks().filter(({ data }) => data.email === to);
  expect(own.map(({ data }) => data.message_id)).toEqual([id, id]);
}, 90_000);

test('one click leaves the list that a mail names, and the next mail to it is skipped', async () => {
  const listId = await givenList(stack);
  const [to = ''] = await importContacts(stack, listId, 1);
  const { headers } = await sendHtml(to, `Postrider-List: ${listId}\r\n`);
  const written = (name: string) => headers.find(({ key }) => key === name)?.value ?? '';
  expect(written('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
  const url = written('list-unsubscribe').slice(1, -1);
  expect((await visited(url, 'POST')).status).toBe(200);
  await until('the membership is over', async () => {
    const query = { workspace_id: stack.workspaceId, email: to };
    const { contact } = good(await stack.call('contacts.getByEmail', undefined, { query }));
    const [list] = contact.contact_lists;
    return list?.status === 'unsubscribed';
  });
  const client = await givenSignedIn(
    Number(new URL(stack.settings.RELAY_URL ?? '').port),
    stack.settings.TOKEN,
  );
  const again = mailOf('hello@example.com', to, `Postrider-List: ${listId}\r\n`);
  expect(await send(client, { to: [to], mail: again })).toMatch(/^250 /);
  client.socket.destroy();
  await until('it is skipped', async () => (await messageTo(to)).status === 'skipped', {
    withinMs,
  });
}, 90_000);

test('a mail of 25 MB goes through', async () => {
  const { from, port, key } = await givenKey();
  const to = `${unique('large')}@example.com`;
  const client = await givenSignedIn(port, key);
  const mail = mailOf(from, to) + `${'a'.repeat(78)}\r\n`.repeat(312_500);
  expect(await send(client, { to: [to], mail })).toMatch(/^250 2\.0\.0 /);
  await until('it arrives', async () => stack.mails().some(({ email }) => email === to), {
    withinMs: 120_000,
  });
  client.socket.destroy();
}, 180_000);

test('a key that is revoked between AUTH and DATA sends nothing more', async () => {
  const { id, from, port, key, keyId, token } = await givenKey();
  const client = await givenSignedIn(port, key);
  const to = `${unique('revoked')}@example.com`;
  expect(await send(client, { to: [to], mail: mailOf(from, to) })).toMatch(/^250 /);
  const body = { workspace_id: id, id: keyId };
  good(await stack.call('workspaces.revokeAPIKey', body, { token }));
  await until(
    'it is refused',
    async () => {
      const reply = await send(client, { to: [to], mail: mailOf(from, to) });
      return reply === '535 5.7.8 the password must be a valid API key';
    },
    { withinMs },
  );
  await expect(givenSignedIn(port, key)).rejects.toThrow(/^535 5\.7\.8 /);
  client.socket.destroy();
});

test('a key without the permission, a foreign From and a deleted workspace are refused', async () => {
  const reading = await givenKey({ transactional: { read: true, write: false } });
  const to = `${unique('nobody')}@example.com`;
  const client = await givenSignedIn(reading.port, reading.key);
  expect(await send(client, { to: [to], mail: mailOf(reading.from, to) })).toMatch(/^550 5\.7\.1 /);
  client.socket.destroy();
  const { id, from, port, key, token } = await givenKey();
  const other = await givenSignedIn(port, key);
  const foreign = await send(other, { to: [to], mail: mailOf(reading.from, to) });
  expect(foreign).toMatch(/^550 5\.7\.1 From must be the address of a sender/);
  good(await stack.call('workspaces.delete', { id }, { token }));
  await until(
    'it is refused',
    async () =>
      /^5(?:35 5\.7\.8|50 5\.7\.1) /.test(await send(other, { to: [to], mail: mailOf(from, to) })),
    { withinMs },
  );
  other.socket.destroy();
});

test('while messages is away a mail is to come again, and then it is taken', async () => {
  const { from, port, key } = await givenKey();
  const to = `${unique('away')}@example.com`;
  const client = await givenSignedIn(port, key);
  for (const name of ['messages', 'messages-2']) stack.processes.kill(name);
  const replies = new Set<string>();
  await until(
    'it is taken',
    async () => {
      const reply = await send(client, { to: [to], mail: mailOf(from, to) });
      replies.add(reply.slice(0, 9));
      return reply.startsWith('250 ');
    },
    { withinMs: 60_000 },
  );
  expect([...replies].filter((reply) => !/^(?:250 2\.0\.0|451 4\.3\.0)$/.test(reply))).toEqual([]);
  client.socket.destroy();
  await arrived(to);
}, 90_000);
