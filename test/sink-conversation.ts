import type { Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';

export type Step = 'greeting' | 'ehlo' | 'mail' | 'rcpt' | 'data' | 'dot';

/** The answers of the sink, as plain data, so that they can be set over HTTP. */
export type Behaviour = {
  /** Delay before the answer to each message. */
  latencyMs: number;
  /** Delay before the answer to each RCPT, as of servers that look the recipient up. */
  rcptLatencyMs: number;
  pipelining: boolean;
  /** Offers DSN (RFC 3461). */
  dsn: boolean;
  /** Answers DATA with 354 even without an accepted recipient, as RFC 2920 allows. */
  dataForNobody: boolean;
  /** Stops answering at this step. */
  stallAt: Step | null;
  greeting: string;
  /** Special answers; the first match wins. `times` counts down to its end. */
  replies: { step: Step; recipient?: string; reply: string; times?: number }[];
  /** Share of accepted messages whose connection ends before the 250: 0 to 1. */
  dropAfterDot: number;
  /** The answer to the first attempt for each recipient, as of greylisting servers. */
  greylist: string;
  /** Closes with 421 after this many messages. */
  messagesPerConnection: number;
  credentials: { username: string; password: string } | null;
  authMethods: string;
  /** Offers STARTTLS with this key and certificate, and then accepts AUTH over TLS only. */
  tls: { key: string; cert: string } | null;
  /** While true, nothing is read: senders feel backpressure. */
  paused: boolean;
};

export const defaultBehaviour: Behaviour = {
  latencyMs: 0,
  rcptLatencyMs: 0,
  pipelining: true,
  dsn: false,
  dataForNobody: false,
  stallAt: null,
  greeting: '220 sink ESMTP',
  replies: [],
  dropAfterDot: 0,
  greylist: '',
  messagesPerConnection: Number.MAX_SAFE_INTEGER,
  credentials: null,
  authMethods: 'PLAIN LOGIN',
  tls: null,
  paused: false,
};

export type SinkMail = {
  recipient: string;
  messageId: string;
  body: Buffer;
  /** MAIL, and the accepted RCPTs, as they came. */
  envelope: readonly string[];
};
export type Accept = (mail: SinkMail, done: () => void) => void;

const greylisted = new Set<string>();
const endOfBody = Buffer.from('\r\n.\r\n');

/** One connection: the answers to one chunk of input are one write. */
export class Conversation {
  #socket: Socket;
  readonly #behaviour: () => Behaviour;
  readonly #accept: Accept;
  #input: Buffer = Buffer.alloc(0);
  /** Holds `#input`, with room behind it: 25 MiB copied for each chunk take seconds. */
  #room: Buffer = Buffer.alloc(0);
  /** How much of `#input` holds no end of the body. */
  #searched = 0;
  #output = '';
  #isInBody = false;
  /** A delayed answer; later input waits for it. */
  #isWaiting = false;
  #isStalled = false;
  #from = '';
  /** The one that was named last. */
  #recipient = '';
  #accepted: string[] = [];
  #envelope: string[] = [];
  #messages = 0;
  #loginStep = 0;
  #isAuthenticated = false;
  #isSecure = false;

  constructor(socket: Socket, behaviour: () => Behaviour, accept: Accept) {
    this.#socket = socket;
    this.#behaviour = behaviour;
    this.#accept = accept;
    this.#listen();
    this.#say('greeting', behaviour().greeting);
    this.#flush();
  }

  #listen(): void {
    this.#socket.on('error', () => this.#socket.destroy());
    this.#socket.on('data', (chunk: Buffer) => {
      this.#append(chunk);
      this.#work();
    });
  }

  #append(chunk: Buffer): void {
    const { length } = this.#input;
    if (length === 0) {
      this.#input = chunk;
      this.#room = chunk;
      return;
    }
    let from = this.#input.byteOffset - this.#room.byteOffset;
    if (from + length + chunk.length > this.#room.length) {
      this.#room = Buffer.allocUnsafeSlow(2 * (length + chunk.length));
      this.#input.copy(this.#room);
      from = 0;
    }
    chunk.copy(this.#room, from + length);
    this.#input = this.#room.subarray(from, from + length + chunk.length);
  }

  #work(): void {
    if (this.#behaviour().paused) {
      setTimeout(() => this.#work(), 20);
      return;
    }
    let more = true;
    while (more && !this.#isWaiting) more = this.#isInBody ? this.#readBody() : this.#readLine();
    this.#flush();
  }

  #readLine(): boolean {
    const end = this.#input.indexOf(0x0a);
    if (end < 0) return false;
    const line = this.#input.toString('latin1', 0, end).trimEnd();
    this.#input = this.#input.subarray(end + 1);
    this.#command(line);
    return true;
  }

  #command(line: string): void {
    const verb = line.slice(0, 4).toUpperCase();
    if (this.#loginStep > 0) this.#login(line);
    else if (verb === 'MAIL') this.#mail(line);
    else if (verb === 'RCPT') this.#later(this.#behaviour().rcptLatencyMs, () => this.#rcpt(line));
    else if (verb === 'DATA') this.#data();
    else if (verb === 'EHLO' || verb === 'HELO') this.#say('ehlo', this.#features(verb));
    else if (verb === 'RSET') this.#reset('250 flushed');
    else if (verb === 'AUTH') this.#auth(line);
    else if (verb === 'STAR') this.#secure();
    else if (verb === 'QUIT') {
      this.#output += '221 bye\r\n';
      this.#flush();
      this.#socket.end();
    } else this.#output += '500 unknown command\r\n';
  }

  #features(verb: string): string {
    const { pipelining, dsn, credentials, tls, authMethods } = this.#behaviour();
    if (verb === 'HELO') return '250 sink';
    const lines = ['sink', '8BITMIME', 'SMTPUTF8'];
    if (pipelining) lines.push('PIPELINING');
    if (dsn) lines.push('DSN');
    if (tls !== null && !this.#isSecure) lines.push('STARTTLS');
    if (credentials !== null) lines.push(`AUTH ${authMethods}`);
    return lines
      .map((text, index) => `250${index === lines.length - 1 ? ' ' : '-'}${text}`)
      .join('\r\n');
  }

  #mail(line: string): void {
    if (this.#from !== '') this.#output += '503 sender already specified\r\n';
    else if (this.#behaviour().credentials !== null && !this.#isAuthenticated)
      this.#output += '530 authentication required\r\n';
    else if (this.#messages >= this.#behaviour().messagesPerConnection) {
      this.#output += '421 too many messages\r\n';
      this.#flush();
      this.#socket.end();
    } else if (this.#say('mail', '250 sender ok')) {
      this.#from = line;
      this.#envelope = [line];
    }
  }

  /** Flushes the answers so far. */
  #later(delayMs: number, answer: () => void): void {
    if (delayMs === 0) {
      answer();
      return;
    }
    this.#isWaiting = true;
    setTimeout(() => {
      this.#isWaiting = false;
      answer();
      this.#work();
    }, delayMs);
  }

  #rcpt(line: string): void {
    this.#recipient = /<([^>]*)>/.exec(line)?.[1] ?? '';
    if (this.#from === '') this.#output += '503 no sender\r\n';
    else if (this.#behaviour().greylist !== '' && !greylisted.has(this.#recipient)) {
      greylisted.add(this.#recipient);
      this.#output += `${this.#behaviour().greylist}\r\n`;
    } else if (this.#say('rcpt', '250 recipient ok')) {
      this.#accepted.push(this.#recipient);
      this.#envelope.push(line);
    }
  }

  #data(): void {
    const isForNobody = this.#accepted.length === 0;
    this.#recipient = this.#accepted[0] ?? '';
    if (this.#from !== '' && isForNobody && this.#behaviour().dataForNobody) {
      this.#isInBody = this.#say('data', '354 go on, for nobody');
    } else if (this.#from === '' || isForNobody) this.#output += '503 no recipient\r\n';
    else this.#isInBody = this.#say('data', '354 go on');
  }

  #reset(reply: string): void {
    this.#from = '';
    this.#recipient = '';
    this.#accepted = [];
    this.#output += `${reply}\r\n`;
  }

  #readBody(): boolean {
    if (this.#accepted.length === 0) return this.#readNothing();
    const end = this.#input.indexOf(endOfBody, Math.max(0, this.#searched - endOfBody.length));
    this.#searched = end < 0 ? this.#input.length : 0;
    if (end < 0) return false;
    const body = this.#input.subarray(0, end + 2);
    this.#input = this.#input.subarray(end + endOfBody.length);
    this.#isInBody = false;
    this.#messages += 1;
    const { dropAfterDot, latencyMs } = this.#behaviour();
    const refused = this.#override('dot');
    if (refused !== undefined || this.#isStalled) {
      this.#from = '';
      this.#accepted = [];
      if (refused !== undefined) this.#output += `${refused}\r\n`;
      return true;
    }
    this.#isWaiting = true;
    let isLate = false;
    let left = this.#accepted.length;
    const done = () => {
      left -= 1;
      if (left > 0) return;
      if (dropAfterDot > 0 && Math.random() < dropAfterDot) this.#socket.destroy();
      else if (latencyMs > 0) setTimeout(() => this.#taken(true), latencyMs);
      else this.#taken(isLate);
    };
    const shared = { messageId: messageIdOf(body), body, envelope: this.#envelope };
    for (const recipient of this.#accepted) this.#accept({ recipient, ...shared }, done);
    isLate = true;
    return true;
  }

  /** The empty message without recipients: a single dot. */
  #readNothing(): boolean {
    if (this.#input.length < 3) return false;
    const isEmpty = this.#input.toString('latin1', 0, 3) === '.\r\n';
    this.#input = this.#input.subarray(3);
    this.#isInBody = false;
    this.#reset(isEmpty ? '554 no valid recipients' : '500 a message for nobody');
    return true;
  }

  #taken(isLate: boolean): void {
    this.#isWaiting = false;
    this.#reset(`250 2.0.0 taken ${this.#messages}`);
    if (isLate) this.#work();
  }

  /** Whether the usual answer was given. */
  #say(step: Step, usual: string): boolean {
    if (this.#behaviour().stallAt === step) this.#isStalled = true;
    const other = this.#override(step);
    if (!this.#isStalled) this.#output += `${other ?? usual}\r\n`;
    if (other?.startsWith('421') || other?.startsWith('554 banner')) {
      this.#flush();
      this.#socket.end();
    }
    return other === undefined || /^[23]/.test(other);
  }

  #override(step: Step): string | undefined {
    if (this.#behaviour().stallAt === step) this.#isStalled = true;
    const rule = this.#behaviour().replies.find(
      (each) =>
        each.step === step &&
        (each.times ?? 1) > 0 &&
        (each.recipient === undefined || new RegExp(each.recipient, 'i').test(this.#recipient)),
    );
    if (rule?.times !== undefined) rule.times -= 1;
    return rule?.reply;
  }

  #auth(line: string): void {
    const [, method = '', initial = ''] = line.split(' ');
    if (this.#behaviour().tls !== null && !this.#isSecure) {
      this.#output += '538 5.7.11 encryption required\r\n';
      return;
    }
    if (method.toUpperCase() === 'LOGIN') {
      this.#loginStep = 1;
      this.#output += '334 VXNlcm5hbWU6\r\n';
      return;
    }
    const [, username, password] = Buffer.from(initial, 'base64').toString('utf8').split('\0');
    this.#checkCredentials(username, password);
  }

  #username = '';

  #login(line: string): void {
    const text = Buffer.from(line, 'base64').toString('utf8');
    if (this.#loginStep === 1) {
      this.#username = text;
      this.#loginStep = 2;
      this.#output += '334 UGFzc3dvcmQ6\r\n';
    } else {
      this.#loginStep = 0;
      this.#checkCredentials(this.#username, text);
    }
  }

  #checkCredentials(username: string | undefined, password: string | undefined): void {
    const known = this.#behaviour().credentials;
    this.#isAuthenticated = username === known?.username && password === known?.password;
    this.#output += this.#isAuthenticated ? '235 welcome\r\n' : '535 5.7.8 wrong credentials\r\n';
  }

  #secure(): void {
    const { tls } = this.#behaviour();
    if (tls === null) {
      this.#output += '502 no tls\r\n';
      return;
    }
    this.#output += '220 go on\r\n';
    this.#flush();
    this.#socket.removeAllListeners('data');
    this.#socket = new TLSSocket(this.#socket, {
      isServer: true,
      secureContext: createSecureContext(tls),
    });
    this.#input = Buffer.alloc(0);
    this.#isSecure = true;
    this.#listen();
  }

  #flush(): void {
    if (this.#output === '' || this.#isStalled) return;
    if (!this.#socket.destroyed) this.#socket.write(this.#output, 'latin1');
    this.#output = '';
  }
}

/** The header is near the top, so that the body is not converted to a string. */
function messageIdOf(body: Buffer): string {
  const found = /^message-id:\s*(<[^>\r\n]*>)/im.exec(body.toString('latin1', 0, 2_000))?.[1] ?? '';
  // Copied, since a substring keeps the whole text in memory.
  return Buffer.from(found, 'latin1').toString('latin1');
}
