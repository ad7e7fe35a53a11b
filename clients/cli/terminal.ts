import { createInterface } from 'node:readline/promises';
import { UsageError } from './failures.ts';

/** The streams of the program. */
export type Terminal = {
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
};

export async function ask({ stdin, stderr }: Terminal, question: string): Promise<string> {
  if (!stdin.isTTY) throw new UsageError(`${question.trim()} cannot be asked without a terminal`);
  const lines = createInterface({ input: stdin, output: stderr });
  try {
    return (await lines.question(question)).trim();
  } finally {
    lines.close();
  }
}

/** Writes all of it, and waits for a slow reader. A reader that has left ends the program. */
export async function write({ stdout }: Terminal, text: string | Uint8Array): Promise<void> {
  if (!stdout.write(text)) await new Promise((resolve) => stdout.once('drain', resolve));
}

/** Replaces the line before on a terminal; elsewhere each is a line of its own. */
export function progressLine({ stderr }: Terminal): { show(text: string): void; end(): void } {
  let last = '';
  return {
    show(text) {
      if (text === last) return;
      stderr.write(stderr.isTTY ? `\r${text.padEnd(last.length)}` : `${text}\n`);
      last = text;
    },
    end() {
      if (stderr.isTTY && last !== '') stderr.write('\n');
    },
  };
}
