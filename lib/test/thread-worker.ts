import { parentPort, threadId } from 'node:worker_threads';

/** The requests that the thread of these tests answers. */
export type Action = 'answer' | 'answer later' | 'wait' | 'loop' | 'fill memory' | 'throw' | 'exit';

const kept: string[][] = [];

parentPort?.on('message', (action: Action) => {
  switch (action) {
    case 'answer':
      parentPort?.postMessage(threadId);
      return;
    case 'answer later':
      setTimeout(() => parentPort?.postMessage(threadId), 500);
      return;
    case 'wait':
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
