import { simpleParser } from 'mailparser';
import { linkKeys } from '#lib/keys/signed-link.ts';
import { subjectName } from '#lib/liquid/variables.ts';
import { MessageBuffer } from '../../services/messages/mime/buffer.ts';
import { writeMail } from '../../services/messages/mime/write.ts';
import { compileMessage, type Program } from '../../services/messages/render/program.ts';
import { RenderThread } from '../../services/messages/render/thread.ts';
import { mailOf } from '../../services/messages/test/mail-of.ts';
import { createCompiler } from '../../services/templates/compile/compiler.ts';
import { mjmlSource } from '../../services/templates/compile/source.ts';
import { keyring } from '../setup/service.ts';
import type { GivenMail } from './given.ts';
import {
  envelope,
  language,
  recipientOf,
  systemUrls,
  tracking,
  utm,
  valuesOf,
  workspaceId,
} from './mailing.ts';
import { referenceOf } from './reference.ts';
import { untrackedHtml, untrackedText } from './untracked.ts';

/** A mail as its reader gets it. */
export type ReadMail = { subject: string; html: string; text: string };

/** The ways to a mail that have to end alike. Each throws the reason for refusing a mail. */
export type Paths = {
  /** As messages sends it, read back from MIME, with links and pixel as if nothing were counted. */
  sentBy(mail: GivenMail): Promise<ReadMail & { raw: Buffer }>;
  previewOf(mail: GivenMail): Promise<ReadMail>;
  referenceOf(mail: GivenMail): Promise<ReadMail>;
  close(): Promise<void>;
};

/** A template that its author cannot store, so that there is nothing to send. */
export class NotStoredError extends Error {
  override name = 'NotStoredError';
}

export async function openPaths(): Promise<Paths> {
  const compiler = createCompiler();
  const thread = new RenderThread();
  // On a busy machine loading MJML may take longer than a first request may.
  await referenceOf(blank);
  /** Mails of one template that follow each other share its program, as those of a broadcast do. */
  let last: { key: string; program: Promise<Program> } | undefined;

  async function stored({ mjml, subjectPreview = '', data }: GivenMail): Promise<string> {
    const head = { title: `{{ ${subjectName} }}`, preview: subjectPreview, language };
    const { whole } = await compiler
      .compile(mjmlSource(mjml), head, data)
      .catch((error: unknown) => {
        throw new NotStoredError('the template is refused when it is stored', { cause: error });
      });
    return whole;
  }

  async function programOf(mail: GivenMail) {
    const { subject, text = '' } = mail;
    const whole = await stored(mail);
    const content = { subject, html: '', mjml: whole, text };
    return compileMessage(content, envelope, linkKeys(keyring)(workspaceId));
  }

  function sharedProgram(mail: GivenMail): Promise<Program> {
    const key = JSON.stringify([mail.mjml, mail.subject, mail.subjectPreview, mail.text]);
    if (last?.key !== key) last = { key, program: programOf(mail) };
    return last.program;
  }

  async function rawOf(mail: GivenMail) {
    const program = await sharedProgram(mail);
    const recipient = recipientOf(mail);
    const buffer = new MessageBuffer();
    writeMail(buffer, await mailOf(program, recipient, thread));
    return { raw: Buffer.from(buffer.written()), links: program.links };
  }

  return {
    async sentBy(mail) {
      const { raw, links } = await rawOf(mail);
      const { subject = '', html, text = '' } = await simpleParser(raw, parserOptions);
      return {
        subject,
        html: untrackedHtml(html || '', links),
        text: untrackedText(text, links),
        raw,
      };
    },
    async previewOf(mail) {
      const { subject, subjectPreview = '', text = '', mjml } = mail;
      const request = {
        subject,
        subjectPreview,
        text,
        language,
        data: valuesOf(mail),
        isMarketing: true,
        keepsContents: true,
        links: { utm, isTracked: true, clicks: tracking.clicks, systemUrls },
      };
      const preview = await compiler.preview(mjmlSource(mjml), request).catch(async (error) => {
        // With these values the template is refused when it is stored as well, or this is a fault.
        await stored(mail);
        throw error;
      });
      return { subject: preview.subject, html: preview.html, text: preview.text ?? '' };
    },
    referenceOf,
    close: async () => void (await Promise.all([compiler.close(), thread.close()])),
  };
}

const blank: GivenMail = {
  name: 'blank',
  subject: '',
  mjml: '<mjml><mj-body></mj-body></mjml>',
  data: {},
};

/** Of mailparser: the parts as they are. */
const parserOptions = { skipHtmlToText: true, skipTextToHtml: true, skipImageLinks: true };
