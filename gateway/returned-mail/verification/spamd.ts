import { connect } from 'node:net';

/*
 * The protocol of SpamAssassin's spamd (SPAMC/1.5): a request with the mail, and an answer whose
 * header has the score.
 */

export type SpamdAddress = { host: string; port: number };

const answerMaxBytes = 16 * 1024;
const waitMaxMs = 10_000;

/** The score of a mail; undefined where spamd gives none in time. */
export async function spamScore(
  { host, port }: SpamdAddress,
  mail: Buffer,
  timeoutMs = waitMaxMs,
): Promise<number | undefined> {
  const answer = await ask({ host, port }, mail, AbortSignal.timeout(timeoutMs)).catch(() => '');
  const [, score] = /^spam:[^\r\n;]{1,20};\s*(-?\d{1,6}(?:\.\d{1,6})?)\s*\//im.exec(answer) ?? [];
  return score === undefined ? undefined : Number(score);
}

async function ask(address: SpamdAddress, mail: Buffer, signal: AbortSignal): Promise<string> {
  const socket = connect({ ...address, signal });
  // Aborting ends a socket only while it connects.
  const end = () => socket.destroy(new Error('spamd did not answer in time'));
  signal.addEventListener('abort', end, { once: true });
  try {
    socket.write(`CHECK SPAMC/1.5\r\nContent-length: ${mail.length}\r\n\r\n`);
    socket.end(mail);
    let answer = '';
    for await (const chunk of socket.setEncoding('latin1')) {
      answer += chunk;
      if (answer.length > answerMaxBytes) break;
    }
    return answer;
  } finally {
    signal.removeEventListener('abort', end);
    socket.destroy();
  }
}
