import { Code, ConnectError } from '@connectrpc/connect';
import { beforeEach, expect, test } from '@jest/globals';
import { createLog } from '#lib/log.ts';
import { query } from '#lib/postgres/query.ts';
import { serviceClaims } from '../../../test/setup/service.ts';
import { sendSignInCode } from '../tasks/send-sign-in-code.ts';
import { givenRoot, rootEmail, useService } from '../test/given.ts';
import { claimsOf } from '../test/given-key.ts';

const given = useService();
const minuteMs = 60_000;
const log = createLog('test', 'silent');
let count = 0;
let ann: string;
beforeEach(async () => {
  pass(6 * minuteMs);
  count += 1;
  ann = await givenPerson(`ann${count}@example.com`);
  given.postbox.mails = [];
  given.postbox.fail = undefined;
});

function pass(ms: number): void {
  given.clock.now = new Date(given.clock.now.getTime() + ms);
}

async function givenPerson(email: string, language = 'en'): Promise<string> {
  await query(
    given.context.store.fork(),
    `insert into users (id, type, email, language, created_at, updated_at)
     values (gen_random_uuid(), 'user', $1, $2, now(), now())`,
    [email, language],
  );
  return email;
}

const from = (address: string) => given.sessions(serviceClaims, { 'x-client-address': address });

/** The payloads of the jobs that wait, which are taken away. */
async function jobs(): Promise<unknown[]> {
  const rows = await query<{ payload: unknown }>(
    given.context.store.fork(),
    'delete from workspaces_jobs._private_jobs returning payload',
    [],
  );
  return rows.map(({ payload }) => payload);
}

const send = sendOf();
function sendOf() {
  return async (payload: unknown) => sendSignInCode(given.context, { log })(payload);
}

/** Asks for a code and returns the one that is mailed, if any. */
async function askedCode(email: string, language = ''): Promise<string | undefined> {
  await given.sessions().signIn({ email, language });
  for (const payload of await jobs()) await send(payload);
  const mail = given.postbox.mails.at(-1);
  return mail?.to === email ? /\b\d{6}\b/.exec(mail.text)?.[0] : undefined;
}

const verify = (email: string, code: string) => given.sessions().verifyCode({ email, code });
const wrong = { code: Code.Unauthenticated, rawMessage: 'Invalid or expired code' };
const other = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

test('a code opens a session, once', async () => {
  const code = (await askedCode(ann)) ?? '';
  const { token, user, expiresAt } = await verify(ann.toUpperCase(), ` ${code} `);
  expect(user).toMatchObject({ email: ann, type: 'user' });
  expect(Number(expiresAt?.seconds) * 1000).toBe(given.clock.now.getTime() + 24 * 60 * minuteMs);
  const me = await given.sessions(await claimsOf(token)).getMe({});
  expect(me).toMatchObject({ user: { email: ann }, workspaces: [] });
  await expect(verify(ann, code)).rejects.toMatchObject(wrong);
});

test('concurrent uses of a right code open one session', async () => {
  const code = (await askedCode(ann)) ?? '';
  const all = await Promise.allSettled([1, 2, 3, 4].map(() => verify(ann, code)));
  expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

test('five tries are all that is compared, however many come at once', async () => {
  const code = (await askedCode(ann)) ?? '';
  for (let attempt = 0; attempt < 4; attempt += 1) {
    await expect(verify(ann, other(code))).rejects.toMatchObject(wrong);
  }
  const rows = () =>
    query<{ tries: number }>(
      given.context.store.fork(),
      'select tries from mailed_codes where email = $1',
      [ann],
    );
  expect(await rows()).toEqual([{ tries: 4 }]);
  await Promise.allSettled(Array.from({ length: 20 }, () => verify(ann, other(code))));
  expect(await rows()).toEqual([{ tries: 5 }]);
  await expect(verify(ann, code)).rejects.toMatchObject(wrong);
});

test('the fifth try may be right', async () => {
  const code = (await askedCode(ann)) ?? '';
  for (let attempt = 0; attempt < 4; attempt += 1) await verify(ann, other(code)).catch(() => {});
  await expect(verify(ann, code)).resolves.toBeDefined();
});

test('a code is valid for ten minutes, and for one address', async () => {
  const bob = await givenPerson(`bob${count}@example.com`);
  const code = (await askedCode(ann)) ?? '';
  await expect(verify(bob, code)).rejects.toMatchObject(wrong);
  pass(10 * minuteMs);
  await expect(verify(ann, code)).rejects.toMatchObject(wrong);
  const next = (await askedCode(ann)) ?? '';
  pass(10 * minuteMs - 1);
  await expect(verify(ann, next)).resolves.toBeDefined();
});

test('a new code replaces the last one', async () => {
  const first = (await askedCode(ann)) ?? '';
  const second = (await askedCode(ann)) ?? '';
  if (first !== second) await expect(verify(ann, first)).rejects.toMatchObject(wrong);
  await expect(verify(ann, second)).resolves.toBeDefined();
});

test('an unknown address is answered like a known one, and gets no mail', async () => {
  const nobody = `nobody${count}@example.com`;
  const known = await given.sessions().signIn({ email: ann });
  expect(await given.sessions().signIn({ email: nobody })).toEqual(known);
  const payloads = await jobs();
  expect(payloads).toHaveLength(2);
  for (const payload of payloads) await send(payload);
  expect(given.postbox.mails.map(({ to }) => to)).toEqual([ann]);
  await expect(verify(nobody, '123456')).rejects.toMatchObject(wrong);
});

test('neither the code nor the address is stored in clear while it is on its way', async () => {
  await given.sessions().signIn({ email: ann });
  const [payload] = await jobs();
  expect(JSON.stringify(payload)).not.toContain(ann);
  await send(payload);
  const code = /\b\d{6}\b/.exec(given.postbox.mails[0]?.text ?? '')?.[0] ?? '';
  const rows = await query<{ hash: Buffer }>(
    given.context.store.fork(),
    'select hash from mailed_codes where email = $1',
    [ann],
  );
  expect(rows[0]?.hash.toString('latin1')).not.toContain(code);
});

test('a request that waited for ten minutes is dropped', async () => {
  await given.sessions().signIn({ email: ann });
  const [payload] = await jobs();
  pass(10 * minuteMs + 1);
  await send(payload);
  expect(given.postbox.mails).toEqual([]);
});

test('an unreachable mail server is tried again, and what cannot be sent is dropped', async () => {
  await given.sessions().signIn({ email: ann });
  const [payload] = await jobs();
  given.postbox.fail = new ConnectError('down', Code.Unavailable);
  await expect(send(payload)).rejects.toThrow('down');
  given.postbox.fail = new ConnectError(
    "no server is set for the installation's own mail",
    Code.FailedPrecondition,
  );
  await send(payload);
});

test('the mail speaks the language asked for, else the one of the person', async () => {
  const ken = await givenPerson(`ken${count}@example.com`, 'ja');
  const subjectOf = async (language: string) => {
    await askedCode(ken, language);
    return given.postbox.mails.at(-1)?.subject;
  };
  expect(await subjectOf('')).toBe('サインインコード');
  expect(await subjectOf('pt-BR')).toBe('O seu código de acesso');
  expect(await subjectOf('xx')).toBe('サインインコード');
});

test('a root user may sign in by code', async () => {
  const code = (await askedCode(rootEmail)) ?? '';
  const { token } = await verify(rootEmail, code);
  await givenRoot(given);
  await given
    .workspaces(await claimsOf(token))
    .createWorkspace({ id: `root${count}`, name: 'Acme' });
});

const limited = { code: Code.ResourceExhausted };

test('a network gets five codes for an address in five minutes, known or not, and all get twenty', async () => {
  for (const email of [ann, `none${count}@example.com`]) {
    for (let network = 0; network < 4; network += 1) {
      const client = from(`198.51.100.${network}`);
      for (let attempt = 0; attempt < 5; attempt += 1) await client.signIn({ email });
      await expect(client.signIn({ email })).rejects.toMatchObject(limited);
    }
    await expect(from('198.51.100.9').signIn({ email })).rejects.toMatchObject(limited);
  }
  pass(5 * minuteMs + 1);
  await given.sessions().signIn({ email: ann });
  await jobs();
});

test('a network gets ten codes for an address in a day; a success clears the count', async () => {
  const ask = () => given.sessions().signIn({ email: ann });
  for (let round = 0; round < 2; round += 1) {
    for (let attempt = 0; attempt < 5; attempt += 1) await ask();
    pass(5 * minuteMs + 1);
  }
  await expect(ask()).rejects.toMatchObject(limited);
  await jobs();
  pass(24 * 60 * minuteMs);
  const code = (await askedCode(ann)) ?? '';
  for (let attempt = 0; attempt < 4; attempt += 1) await ask();
  await verify(ann, code);
  await ask();
  await jobs();
});

test('all networks get 60 codes for an address in a day, so that guessing is hopeless', async () => {
  for (let network = 0; network < 6; network += 1) {
    const client = from(`198.51.100.${network}`);
    for (let attempt = 0; attempt < 10; attempt += 1) {
      if (attempt === 5) pass(5 * minuteMs + 1);
      await client.signIn({ email: ann });
    }
    pass(5 * minuteMs + 1);
  }
  await expect(from('198.51.100.9').signIn({ email: ann })).rejects.toMatchObject(limited);
  await jobs();
});

test('a stranger who asks for codes and tries wrong ones stops nobody from signing in', async () => {
  const stranger = from('198.51.100.7');
  const code = (await askedCode(ann)) ?? '';
  for (let attempt = 0; attempt < 5; attempt += 1) await stranger.signIn({ email: ann });
  for (const payload of await jobs()) await send(payload);
  for (let attempt = 0; attempt < 30; attempt += 1) {
    await expect(stranger.verifyCode({ email: ann, code: other(code) })).rejects.toMatchObject(
      wrong,
    );
  }
  await expect(verify(ann, code)).resolves.toBeDefined();
  const again = (await askedCode(ann)) ?? '';
  for (let attempt = 0; attempt < 20; attempt += 1) {
    await expect(stranger.verifyCode({ email: ann, code: other(again) })).rejects.toMatchObject(
      wrong,
    );
  }
  await expect(verify(ann, again)).resolves.toBeDefined();
});

test('a code works from another network than the one that asked, which has three tries', async () => {
  const [home, train] = [from('2001:db8::1'), from('203.0.113.50')];
  for (const [wrongTries, works] of [
    [2, true],
    [3, false],
  ] as const) {
    await home.signIn({ email: ann });
    for (const payload of await jobs()) await send(payload);
    const code = /\b\d{6}\b/.exec(given.postbox.mails.at(-1)?.text ?? '')?.[0] ?? '';
    for (let attempt = 0; attempt < wrongTries; attempt += 1) {
      await expect(train.verifyCode({ email: ann, code: other(code) })).rejects.toMatchObject(
        wrong,
      );
    }
    const tried = train.verifyCode({ email: ann, code });
    if (works) await expect(tried).resolves.toBeDefined();
    else await expect(tried).rejects.toMatchObject(wrong);
    if (!works) await expect(home.verifyCode({ email: ann, code })).resolves.toBeDefined();
  }
});

test('a client asks for 50 codes and tries 50 in five minutes', async () => {
  const client = from('203.0.113.7');
  const emails = Array.from({ length: 51 }, (_, n) => `many${n}@example.com`);
  for (const email of emails.slice(1)) {
    await client.signIn({ email });
    await expect(client.verifyCode({ email, code: '123456' })).rejects.toMatchObject(wrong);
  }
  const [email = ''] = emails;
  await expect(client.signIn({ email })).rejects.toMatchObject(limited);
  await expect(client.verifyCode({ email, code: '1' })).rejects.toMatchObject(limited);
  await from('203.0.113.8').signIn({ email });
  await jobs();
});

test.each(['', 'nobody', 'a@b@c', 'ann@example.com\r\nBcc: x@example.com'])(
  'the address %j is refused',
  async (email) => {
    await expect(given.sessions().signIn({ email })).rejects.toMatchObject({
      code: Code.InvalidArgument,
    });
  },
);
