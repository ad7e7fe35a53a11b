import { connect as connectSocket, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { Reply } from './outcome.ts';

/** RFC 5321 allows 512 characters a line; more than this is no SMTP server. */
const lineLimitBytes = 4_096;
const linesMax = 100;
const readBufferBytes = 16 * 1024;
/** Ten seconds after this, ten probes of the kernel have found a peer that vanished. */
const keepAliveAfterMs = 30_000;

export type SmtpTarget = { address: string; family: 4 | 6; port: number };

export type TlsSettings = {
  host: string;
  ca?: string;
  /** Whether the certificate has to be valid for the host. */
  isVerified: boolean;
};

/** One socket to a server: writes bytes, reads replies. */
export class Wire {
  /** Set by the session; an unexpected reply ends the connection. */
  onReply: (reply: Reply) => void = () => this.destroy('an unexpected reply');
  onClose: (reason: string) => void = () => undefined;
  #socket: Socket | TLSSocket;
  #carry: Buffer | undefined;
  #lines: string[] = [];
  #reason: string | undefined;
  /** Why the connection is over; undefined while it lasts. */
  closed: string | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** `willUpgrade` for STARTTLS, whose handshake needs the socket's own reads. */
  static open(target: SmtpTarget, willUpgrade: boolean, onConnect: () => void): Wire {
    const buffer = Buffer.allocUnsafeSlow(readBufferBytes);
    const options = {
      host: target.address,
      family: target.family,
      port: target.port,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: keepAliveAfterMs,
    };
    const holder: { wire?: Wire } = {};
    const read = (count: number, bytes: Uint8Array) => {
      holder.wire?.feed(Buffer.from(bytes.buffer, bytes.byteOffset, count));
      return true;
    };
    const socket = willUpgrade
      ? connectSocket(options)
      : connectSocket({ ...options, onread: { buffer, callback: read } });
    const wire = new Wire(socket);
    holder.wire = wire;
    wire.#listen(socket, willUpgrade);
    socket.once('connect', onConnect);
    return wire;
  }

  /**
   * Continues encrypted. Bytes received in clear are dropped, so that an attacker can't inject
   * answers.
   */
  upgrade(settings: TlsSettings, onSecure: () => void): void {
    this.#carry = undefined;
    this.#lines = [];
    const clear = this.#socket;
    clear.removeAllListeners();
    const socket = connectTls({
      socket: clear,
      host: settings.host,
      // Server names are names; a certificate for an address is compared with the host.
      servername: isIP(settings.host) ? undefined : settings.host,
      ca: settings.ca,
      rejectUnauthorized: settings.isVerified,
      minVersion: 'TLSv1.2',
    });
    this.#socket = socket;
    clear.on('error', () => undefined);
    this.#listen(socket, true);
    socket.setNoDelay(true);
    socket.once('secureConnect', onSecure);
  }

  /** `onWritten` gets no error once the kernel has taken all of the data. */
  write(data: Buffer | string, onWritten?: (error?: Error | null) => void): void {
    if (typeof data === 'string') this.#socket.write(data, 'latin1', onWritten);
    else this.#socket.write(data, onWritten);
  }

  destroy(reason: string): void {
    this.#reason ??= reason;
    this.#socket.destroy();
    // The caller must not wait for the event, which comes in a later turn.
    this.#close(this.#reason);
  }

  quit(): void {
    this.onClose = () => undefined;
    this.onReply = () => undefined;
    this.#socket.end('QUIT\r\n');
    this.#socket.setTimeout(1_000, () => this.#socket.destroy());
  }

  #listen(socket: Socket | TLSSocket, withData: boolean): void {
    if (withData) socket.on('data', (bytes: Buffer) => this.feed(bytes));
    socket.on('error', (error) => {
      this.#reason ??= errorReason(error);
    });
    socket.on('end', () => socket.destroy());
    socket.on('close', () => this.#close(this.#reason ?? 'the connection was closed'));
  }

  #close(reason: string): void {
    if (this.closed !== undefined) return;
    this.closed = reason;
    this.onClose(reason);
  }

  feed(bytes: Buffer): void {
    const all = this.#carry === undefined ? bytes : Buffer.concat([this.#carry, bytes]);
    this.#carry = undefined;
    let from = 0;
    while (this.closed === undefined) {
      const end = all.indexOf(0x0a, from);
      if (end < 0) break;
      this.#takeLine(all, from, end);
      from = end + 1;
    }
    const left = all.length - from;
    if (left > lineLimitBytes) this.destroy('a reply that is too long');
    else if (left > 0) this.#carry = Buffer.from(all.subarray(from));
  }

  /**
   * Reads the code from the bytes: a mail is answered by four lines, for which a regular expression
   * takes noticeable time.
   */
  #takeLine(bytes: Buffer, from: number, end: number): void {
    const code = codeAt(bytes, from, end);
    const rest = bytes.toString('utf8', Math.min(from + 3, end), end).trimEnd();
    const isLast = rest === '' || rest.startsWith(' ');
    if (code === 0 || !(isLast || rest.startsWith('-')) || this.#lines.length >= linesMax) {
      this.destroy('a reply that is not SMTP');
      return;
    }
    const words = rest.slice(1);
    if (!isLast) {
      this.#lines.push(words);
      return;
    }
    const text = this.#lines.length === 0 ? words : [...this.#lines, words].join('\n');
    if (this.#lines.length > 0) this.#lines = [];
    this.onReply({ code, text });
  }
}

/** The code of a reply, 200 to 599, in the three bytes at `from`; 0 if they are none. */
function codeAt(bytes: Buffer, from: number, end: number): number {
  if (end - from < 3) return 0;
  let code = 0;
  for (let place = from; place < from + 3; place += 1) {
    const digit = (bytes[place] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) return 0;
    code = code * 10 + digit;
  }
  return code >= 200 && code < 600 ? code : 0;
}

/** Node's code is short, stable and names no address. */
function errorReason(error: Error & { code?: unknown }): string {
  if (error.code === 'ECONNREFUSED') return 'connection refused';
  return typeof error.code === 'string' ? `connection failed (${error.code})` : 'connection failed';
}
