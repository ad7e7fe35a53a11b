import { parentPort, threadId } from 'node:worker_threads';

/** What a thread of these tests can be asked to do. */
export type Deed = 'answer' | 'loop' | 'fill memory' | 'throw' | 'exit';

const kept: string[][] = [];

parentPort?.on('message', (deed: Deed) => {
  switch (deed) {
    case 'answer':
      parentPort?.postMessage(threadId);
      return;
    case 'loop':
      for (;;);
    case 'fill memory':
      for (;;)
        kept.push(Array.from({ length: 10_000 }, (_, number) => `${number} of ${kept.length}`));
    case 'throw':
      throw new Error('a thread that breaks');
    case 'exit':
      process.exit(0);
  }
});
