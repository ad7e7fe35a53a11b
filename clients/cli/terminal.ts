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

/** Writes all of it, and waits for a slow reader. */
export async function write({ stdout }: Terminal, text: string): Promise<void> {
  const shown = stdout.isTTY ? withoutControls(text) : text;
  if (!stdout.write(shown)) await new Promise((resolve) => stdout.once('drain', resolve));
}

/** A line beside the answer. */
export function say({ stderr }: Terminal, text: string): void {
  stderr.write(`${withoutControls(text)}\n`);
}

/** Texts of other people must not drive the terminal; lines and tabs stay. */
export function withoutControls(text: string): string {
  return text.replaceAll(/(?:(?![\n\t])[\p{Cc}\p{Cf}])+/gu, ' ');
}

/** Replaces the line before on a terminal; elsewhere each is a line of its own. */
export function progressLine({ stderr }: Terminal): { show(text: string): void; end(): void } {
  let last = '';
  return {
    show(given) {
      const text = withoutControls(given);
      if (text === last) return;
      stderr.write(stderr.isTTY ? `\r${text.padEnd(last.length)}` : `${text}\n`);
      last = text;
    },
    end() {
      if (stderr.isTTY && last !== '') stderr.write('\n');
    },
  };
}
