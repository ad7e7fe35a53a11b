import { setTimeout as sleep } from 'node:timers/promises';
import { createTransport, type Transporter } from 'nodemailer';
import { freePort } from '../../../deploy/local/ports.ts';
import { noPostfix, startPostfix } from '../../postfix/postfix.ts';
import type { TestStack } from '../../stack.ts';

/** A program that sends mails by SMTP. */
export type RelayClient = {
  name: string;
  /** Of 100 mails. */
  share: number;
  /** Resolves with its tries once the mail has its 250. */
  send(mail: ClientMail): Promise<number>;
  close(): Promise<void>;
};

export type ClientMail = { to: string; number: number; isKeyed: boolean };

/** The address of a sender of the stack's workspace. */
const from = 'hello@example.com';
const againMs = 200;
/** A process that was killed with the other end says so at once; a busy one may take long. */
const socketTimeoutMs = 90_000;

/**
 * Together within the 50 connections of an address: a program with a pool, WordPress and GitLab
 * with a connection for each mail, and Postfix where it runs.
 */
export async function openClients(
  stack: TestStack,
  say: (line: string) => void,
): Promise<RelayClient[]> {
  const reason = noPostfix();
  if (reason !== '') say(`without Postfix: ${reason}`);
  const postfix = reason === '' ? [await openPostfix(stack)] : [];
  return [
    openNodemailer(
      stack,
      { name: 'pool', share: 40, connections: 10, perConnection: 1_000 },
      plain,
    ),
    openNodemailer(
      stack,
      { name: 'wordpress', share: 30, connections: 14, perConnection: 1 },
      wordpress,
    ),
    openNodemailer(stack, { name: 'gitlab', share: 20, connections: 14, perConnection: 1 }, gitlab),
    ...postfix,
  ];
}

type Nodemailer = { name: string; share: number; connections: number; perConnection: number };

function openNodemailer(
  { settings }: TestStack,
  { name, share, connections, perConnection }: Nodemailer,
  mailOf: (mail: ClientMail) => string,
): RelayClient {
  const { hostname: host, port } = new URL(settings.RELAY_URL ?? '');
  const transport = createTransport({
    ...{ pool: true, maxConnections: connections, maxMessages: perConnection },
    ...{ host, port: Number(port), socketTimeout: socketTimeoutMs },
    ...{ tls: { rejectUnauthorized: false }, auth: { user: 'any', pass: settings.TOKEN ?? '' } },
  });
  return {
    ...{ name, share },
    send: (mail) => sendBy(transport, mail, mailOf),
    close: async () => transport.close(),
  };
}

async function sendBy(
  transport: Pick<Transporter, 'sendMail'>,
  mail: ClientMail,
  mailOf: (mail: ClientMail) => string,
): Promise<number> {
  const { to } = mail;
  for (let tries = 1; ; tries += 1) {
    const sent = { envelope: { from, to }, raw: Buffer.from(mailOf(mail)) };
    if (await transport.sendMail(sent).catch(() => undefined)) return tries;
    await sleep(againMs);
  }
}

/**
 * It keeps what is to come again, for longer than the kills last. It has one try only in what we
 * see of it, so that all its mails have keys.
 */
async function openPostfix({ settings }: TestStack): Promise<RelayClient> {
  const relayPort = Number(new URL(settings.RELAY_URL ?? '').port);
  const postfix = await startPostfix(
    await freePort(),
    { 'example.com': relayPort },
    {
      passwords: { [relayPort]: settings.TOKEN ?? '' },
      settings: {
        ...{ maximal_queue_lifetime: '1h', delay_warning_time: '0h' },
        default_destination_concurrency_limit: '5',
        // One refusal is no reason to leave the relay alone for long.
        default_destination_concurrency_failed_cohort_limit: '100',
      },
    },
  );
  const transport = createTransport({
    ...{ pool: true, maxConnections: 5, host: '127.0.0.1', port: postfix.port, ignoreTLS: true },
  });
  return {
    ...{ name: 'postfix', share: 10 },
    send: (mail) => sendBy(transport, { ...mail, isKeyed: true }, plain),
    async close() {
      transport.close();
      await postfix.stop();
    },
  };
}

const lines = (...all: readonly (string | readonly string[])[]) => `${all.flat().join('\r\n')}\r\n`;
const keyOf = ({ to, isKeyed }: ClientMail) =>
  isKeyed ? [`Postrider-Idempotency-Key: ${to}`] : [];
const dateNow = () => new Date().toUTCString().replace('GMT', '+0000');

function plain(mail: ClientMail): string {
  const head = [`From: ${from}`, `To: ${mail.to}`, 'Subject: Hi', `Message-ID: <${mail.to}>`];
  return lines(keyOf(mail), head, `Date: ${dateNow()}`, '', 'Hello', '.dot');
}

/** As PHPMailer writes it for `wp_mail`, with a plugin that asks for tracking. */
function wordpress(mail: ClientMail): string {
  return lines(
    `Date: ${dateNow()}`,
    `To: ${mail.to}`,
    `From: WordPress <${from}>`,
    `Reply-To: shop@example.com`,
    'Subject: =?UTF-8?Q?[Caf=C3=A9]_Your_order_has_been_received!?=',
    `Message-ID: <wp-${mail.to}>`,
    'X-Mailer: PHPMailer 6.9.1 (https://github.com/PHPMailer/PHPMailer)',
    'X-PM-TrackOpens: true',
    'X-PM-TrackLinks: HtmlOnly',
    keyOf(mail),
    'MIME-Version: 1.0',
    'Content-Type: multipart/alternative;',
    ' boundary="b1=_Zk3vYw2mWQb0"',
    'Content-Transfer-Encoding: 8bit',
    '',
    '--b1=_Zk3vYw2mWQb0',
    'Content-Type: text/plain; charset=UTF-8',
    'Content-Transfer-Encoding: 8bit',
    '',
    'Thank you, Zoë — your order №1042 is here.',
    '',
    '--b1=_Zk3vYw2mWQb0',
    'Content-Type: text/html; charset=UTF-8',
    'Content-Transfer-Encoding: 8bit',
    '',
    '<p>Thank you, Zoë — <a href="https://shop.example/orders/1042?key=x&amp;y=z">№1042</a></p>',
    '',
    '--b1=_Zk3vYw2mWQb0--',
  );
}

/** As Ruby's `mail` writes it: a discussion, and fields that only GitLab has. */
function gitlab(mail: ClientMail): string {
  const thread = `merge_request_${mail.number % 100}@gitlab.example.com`;
  return lines(
    `Date: ${dateNow()}`,
    `From: "Ann Example (@ann)" <${from}>`,
    'Reply-To: GitLab <incoming+abc@example.com>',
    `To: ${mail.to}`,
    `Message-ID: <note_${mail.to}>`,
    `In-Reply-To: <${thread}>`,
    `References: <reply-0@gitlab.example.com>`,
    ` <${thread}>`,
    'Subject: Re: group/project | Fix the relay (!7)',
    'Mime-Version: 1.0',
    'Content-Type: multipart/alternative;',
    ' boundary="--==_mimepart_674";',
    ' charset=UTF-8',
    'Content-Transfer-Encoding: 7bit',
    'X-GitLab-Project: project',
    'X-GitLab-NotificationReason: mentioned',
    'Auto-Submitted: auto-generated',
    'List-Id: group/project <7.project.group.gitlab.example.com>',
    keyOf(mail),
    '',
    '',
    '----==_mimepart_674',
    'Content-Type: text/plain;',
    ' charset=UTF-8',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    'Looks good =F0=9F=91=8D=0D',
    '--=20',
    '',
    '----==_mimepart_674',
    'Content-Type: text/html;',
    ' charset=UTF-8',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    '<p>Looks good <a href=3D"https://gitlab.example.com/x">x</a></p>',
    '',
    '----==_mimepart_674--',
  );
}
