import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export type CallerOptions = {
  port: number;
  from: string;
  /** Lines of the PROXY protocol and of AUTH; none where the server wants none. */
  proxyLine?: string;
  password?: string;
};

/**
 * A client of SMTP that costs little, since it shares the cores with the servers: one connection,
 * the envelope in one write, then the mail.
 */
export class SmtpCaller {
  readonly #socket: Socket;
  readonly #from: string;
  #text = '';
  #wake: () => void = () => undefined;

  private constructor(socket: Socket, from: string) {
    this.#socket = socket;
    this.#from = from;
    socket.setEncoding('latin1').setNoDelay(true);
    socket.on('data', (text: string) => {
      this.#text += text;
      this.#wake();
    });
    socket.on('close', () => this.#wake());
    socket.on('error', () => undefined);
  }

  static async open({ port, from, proxyLine = '', password }: CallerOptions): Promise<SmtpCaller> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const caller = new SmtpCaller(socket, from);
    socket.write(proxyLine);
    await caller.#expect('220');
    await caller.#ask('EHLO bench.example', '250');
    if (password !== undefined) {
      const plain = Buffer.from(`\0bench\0${password}`).toString('base64');
      await caller.#ask(`AUTH PLAIN ${plain}`, '235');
    }
    return caller;
  }

  /** Milliseconds from the first command to the 250 of the mail, whose lines have their dots. */
  async send(to: string, mail: string): Promise<number> {
    const startedAtMs = performance.now();
    this.#socket.write(`MAIL FROM:<${this.#from}>\r\nRCPT TO:<${to}>\r\nDATA\r\n`);
    await this.#expect('250');
    await this.#expect('250');
    await this.#expect('354');
    this.#socket.write(`${mail}\r\n.\r\n`);
    await this.#expect('250');
    return performance.now() - startedAtMs;
  }

  close(): void {
    this.#socket.destroy();
  }

  async #ask(line: string, code: string): Promise<void> {
    this.#socket.write(`${line}\r\n`);
    await this.#expect(code);
  }

  /** Reads one reply to its last line. */
  async #expect(code: string): Promise<void> {
    for (;;) {
      const last = /^\d{3}(?: [^\r\n]*)?\r\n/m.exec(this.#text);
      if (last) {
        this.#text = this.#text.slice(last.index + last[0].length);
        if (last[0].startsWith(code)) return;
        throw new Error(`the server answered ${last[0].trim()}`);
      }
      if (this.#socket.destroyed) throw new Error('the server closed the connection');
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
