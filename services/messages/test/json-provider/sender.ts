import { Pool } from 'undici';
import { type MailParts, wholeText } from '../../mime/mail.ts';
import { infoLength, type SendOutcome } from '../../providers/outcome.ts';
import { isOver, type Outgoing, unwritable } from '../../providers/outgoing.ts';
import type { Sender, SenderHost } from '../../providers/provider.ts';
import { OutgoingQueue, type TakenMail } from '../../providers/queue.ts';
import type { JsonMail } from './server.ts';

const requestsMax = 16;
const answerMs = 10_000;
const connectTimeout = 'UND_ERR_CONNECT_TIMEOUT';
const tickMs = 250;

type Answer = { status: number; retryAfterS: number; body: { id?: string; error?: string } };

/** Sends each mail as a JSON request. */
export class JsonSender implements Sender {
  readonly #queue: OutgoingQueue;
  readonly #pool: Pool;
  #ticker: NodeJS.Timeout | undefined;
  #answered = 0;
  readonly atOnce = requestsMax;
  connections = 0;
  messageMs = 0;
  perMinute: number | undefined;

  constructor(host: SenderHost, port: number) {
    this.#queue = new OutgoingQueue(host, () => this.#pump());
    this.#pool = new Pool(`http://127.0.0.1:${port}`, { connections: requestsMax });
  }

  get waiting(): number {
    return this.#queue.waiting;
  }

  get isProbing(): boolean {
    return this.#queue.isProbing;
  }

  send(messages: readonly Outgoing[], { isUrgent = false } = {}): void {
    this.#queue.add(messages, isUrgent);
    this.#ticker ??= setInterval(() => this.#tick(), tickMs).unref();
    this.#pump();
  }

  resume(): void {
    this.#pump();
  }

  dropOver(): void {
    this.#queue.dropOver();
  }

  close(): void {
    clearInterval(this.#ticker);
    this.#queue.close();
    this.#pool.close().catch(() => undefined);
  }

  #tick(): void {
    this.dropOver();
    this.#queue.settleKept();
    this.#pump();
    if (this.waiting > 0 || this.connections > 0 || this.#queue.keepsAny) return;
    clearInterval(this.#ticker);
    this.#ticker = undefined;
  }

  #pump(): void {
    while (this.connections < requestsMax) {
      const taken = this.#queue.take();
      if (!taken) return;
      this.connections += 1;
      void this.#deliver(taken);
    }
  }

  async #deliver({ outgoing, mail }: TakenMail): Promise<void> {
    const outcome = await this.#outcomeOf(outgoing, mail);
    this.connections -= 1;
    this.#queue.settle(outgoing, outcome, this.#answered === 0);
    if (outcome.kind === 'accepted') this.#answered += 1;
    else if (outcome.kind === 'outage') this.#queue.refuseAll(outcome.info);
    this.#pump();
  }

  async #outcomeOf(outgoing: Outgoing, mail: MailParts): Promise<SendOutcome> {
    let body: string;
    try {
      body = JSON.stringify(jsonOf(outgoing, mail));
    } catch (error) {
      return unwritable(outgoing, error);
    }
    const mayWrite = await new Promise<boolean>((resolve) =>
      outgoing.begin ? outgoing.begin(resolve) : resolve(true),
    );
    if (!mayWrite || isOver(outgoing)) return { kind: 'not_started' };
    const startedAtMs = performance.now();
    try {
      const answer = await this.#post(body);
      this.messageMs = performance.now() - startedAtMs;
      return outcomeOf(answer);
    } catch (error) {
      if (isBeforeRequest(error)) {
        return { kind: 'outage', info: 'the server could not be reached' };
      }
      return { kind: 'unknown', info: 'the connection ended before the server had answered' };
    }
  }

  async #post(body: string): Promise<Answer> {
    const {
      statusCode,
      headers,
      body: answer,
    } = await this.#pool.request({
      path: '/mails',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      headersTimeout: answerMs,
    });
    const retryAfterS = Number(headers['retry-after'] ?? 0);
    return { status: statusCode, retryAfterS, body: (await answer.json()) as Answer['body'] };
  }
}

/** Whether no connection was made, so that nothing can have arrived. */
function isBeforeRequest(error: unknown): boolean {
  const { code = '', syscall = '' } = error as { code?: string; syscall?: string };
  const isTls = /^(ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code);
  return syscall === 'connect' || syscall === 'getaddrinfo' || isTls || code === connectTimeout;
}

function outcomeOf({ status, retryAfterS, body: { id, error = '' } }: Answer): SendOutcome {
  const info = `${status} ${error}`.trim().slice(0, infoLength);
  if (status === 202) return { kind: 'accepted', info, ...(id && { providerId: id }) };
  if (status === 403) return { kind: 'outage', info };
  if (status === 422 && error === 'no such mailbox') return { kind: 'bounced', info };
  if (status === 422) {
    return {
      kind: 'failed',
      info,
      alike: { sign: info, refused: 'the mail', mayBeAccount: false },
    };
  }
  const retryAfterMs = retryAfterS * 1_000;
  return { kind: 'deferred', info, ...(retryAfterMs > 0 && { retryAfterMs }) };
}

function jsonOf(
  { id, from, to, copies }: Outgoing,
  { headers, text, html, files }: MailParts,
): JsonMail {
  const words = headers.flatMap(({ name, value }) =>
    typeof value === 'string' ? [[name, value] as const] : [],
  );
  const { Subject: subject = '', ...rest } = Object.fromEntries(words);
  return {
    ...{ id, from, to: [to, ...copies], subject, headers: rest },
    text: wholeText(text),
    html: wholeText(html),
    files: files.map(({ filename: name, contentType: type, content }) => ({
      ...{ name, type, base64: content.toString('base64') },
    })),
  };
}
