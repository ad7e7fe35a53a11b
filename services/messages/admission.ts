import { Code } from '@connectrpc/connect';
import { retryLater } from '#lib/rpc/errors.ts';

export type Admission = {
  /** Runs the work once there is room; refuses if there is none for too long. */
  run<Value>(work: () => Promise<Value>): Promise<Value>;
};

export function createAdmission(limits: {
  runningMax: number;
  waitMaxMs: number;
  waitingMax: number;
}): Admission {
  let running = 0;
  const waiting: (() => void)[] = [];
  const enter = (): Promise<void> => {
    if (running < limits.runningMax) {
      running += 1;
      return Promise.resolve();
    }
    if (waiting.length >= limits.waitingMax) return Promise.reject(busy());
    return new Promise((admit, refuse) => {
      const turn = () => {
        clearTimeout(timer);
        admit();
      };
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(turn), 1);
        refuse(busy());
      }, limits.waitMaxMs);
      waiting.push(turn);
    });
  };
  const leave = () => {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  };
  return {
    async run(work) {
      await enter();
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}

function busy() {
  return retryLater('too many batches are being sent', Code.ResourceExhausted, 500);
}
