import { parentPort } from 'node:worker_threads';
import type { ReadAnswer } from './mail-reader.ts';
import { readMail } from './read-mail.ts';

parentPort?.on('message', async (mail: Uint8Array) => {
  const answer: ReadAnswer = { mail: await readMail(mail) };
  parentPort?.postMessage(answer);
});
