import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TemplateCategory, TemplateChannel } from '#gen/postrider/templates/v1/templates_pb.ts';
import { subjectName } from '#lib/liquid/variables.ts';
import { readContacts } from '../../deploy/demo/contacts-file.ts';
import { templatesOf } from '../../deploy/demo/story.ts';
import { sendConfirmations } from '../../services/messages/tasks/send-confirmations.ts';
import { batchOf, useService } from '../../services/messages/test/given.ts';
import { givenNotification, sendOf } from '../../services/messages/test/given-notification.ts';
import { createCompiler } from '../../services/templates/compile/compiler.ts';
import { mjmlSource } from '../../services/templates/compile/source.ts';
import { until } from '../stack/until.ts';

/*
 * The mails of the demo as a server gets them, scored by SpamAssassin with its local rules alone.
 * Skipped where SpamAssassin is not installed.
 */

const program = 'spamassassin';
const hasSpamAssassin = spawnSync(program, ['-V']).status === 0;
if (!hasSpamAssassin) {
  process.stderr.write(
    'SpamAssassin is not on the PATH, so tests with it are skipped. Install it (on Debian: apt-get install spamassassin).\n',
  );
}
const withSpamAssassin = hasSpamAssassin ? test : test.skip;
const scoreMax = 0.5;

const given = useService();
const compiler = createCompiler();
/** SpamAssassin keeps files below its user's home. */
const home = mkdtempSync(join(tmpdir(), 'postrider-spam-'));
afterAll(async () => {
  rmSync(home, { recursive: true, force: true });
  await compiler.close();
});

type Template = ReturnType<typeof templatesOf>[number];
const templates = templatesOf({ run: 'm1x2y3z4' });
const [reader] = readContacts();
const email = String(reader?.email);

beforeAll(() => {
  given.world.isTracked = true;
  given.world.fields.set(email, { ...reader });
});

/** Compiles the template as templates does, and has it answered from now on. */
async function use({ email: { mjml_source, subject, subject_preview } }: Template): Promise<void> {
  const head = { title: `{{ ${subjectName} }}`, preview: subject_preview, language: 'en' };
  const { whole } = await compiler.compile(mjmlSource(mjml_source), head, {});
  given.world.content = {
    ...{ version: 1, category: TemplateCategory.MARKETING, channel: TemplateChannel.EMAIL },
    ...{ subject, mjml: whole },
  };
}

/** The next mail at the server. */
async function received(): Promise<string> {
  await until('it arrives', async () => given.sink.total() === 1);
  const [mail = ''] = given.sink.bodies();
  given.sink.reset();
  return mail;
}

/** The score of a mail and the rules that made it, where it is too high; empty else. */
async function complaintAbout(mail: string): Promise<string> {
  const args = ['--local', '--test-mode', '--nocreate-prefs', '--cf=use_bayes 0'];
  const child = spawn(program, args, { env: { ...process.env, HOME: home } });
  child.stdin.end(mail, 'latin1');
  const [report] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  const unfolded = report.replaceAll(/\r?\n[\t ]+/g, ' ');
  const [, score, rules] =
    /^X-Spam-Status: .*?score=(\S+) .*?tests=(.*?) autolearn/m.exec(unfolded) ?? [];
  if (score === undefined) throw new Error(`SpamAssassin gave no score: ${report.slice(0, 500)}`);
  return Number(score) <= scoreMax ? '' : `${score}: ${rules}`;
}

withSpamAssassin.each(templates)('SpamAssassin takes the broadcast “$name”', async (template) => {
  await use(template);
  expect(await given.sender.sendBatch(batchOf([email]))).toMatchObject({ sent: 1 });
  expect(await complaintAbout(await received())).toBe('');
});

withSpamAssassin.each(templates)(
  'SpamAssassin takes “$name” as a notification',
  async (template) => {
    await use(template);
    const contact = { email };
    await given.transactional.sendTransactional(
      sendOf(await givenNotification(given), { contact }),
    );
    expect(await complaintAbout(await received())).toBe('');
  },
);

withSpamAssassin.each(['en', 'fr', 'de', 'es', 'pt-BR'])(
  'SpamAssassin takes the confirmation mail of a list (%s)',
  async (language) => {
    const pending = `pending-${language}@example.com`;
    given.world.fields.set(pending, { ...reader, language });
    const dataJson = JSON.stringify({ email: pending, list_id: 'weekly' });
    const events = [{ type: 'confirmation.due', dataJson }];
    await given.events.consumeEvents({ workspaceId: 'w1', batchId: crypto.randomUUID(), events });
    await sendConfirmations(given.context)({ workspaceId: 'w1', listId: 'weekly' });
    expect(await complaintAbout(await received())).toBe('');
  },
);

withSpamAssassin('SpamAssassin complains about spam', async () => {
  const mail =
    'Subject: XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X\r\n\r\nX\r\n';
  expect(await complaintAbout(mail)).toMatch(/^1\d{3}\.\d: .*GTUBE/);
});
