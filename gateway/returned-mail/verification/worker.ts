import { parentPort } from 'node:worker_threads';
import { type ArrivedMail, nothing, type Verdict, verdictOn } from './verdict.ts';

parentPort?.on('message', async (mail: ArrivedMail) => {
  const failed: Verdict = { ...nothing, problem: 'the mail could not be verified' };
  parentPort?.postMessage(await verdictOn(mail).catch(() => failed));
});
