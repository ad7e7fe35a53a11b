import { parentPort } from 'node:worker_threads';
import { type ArrivedMail, type MailVerdict, nothing, verdictOn } from './verdict.ts';

parentPort?.on('message', async (mail: ArrivedMail) => {
  const failed: MailVerdict = { ...nothing, problem: 'the mail could not be verified' };
  parentPort?.postMessage(await verdictOn(mail).catch(() => failed));
});
