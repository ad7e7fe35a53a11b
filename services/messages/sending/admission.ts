import { Code, type HandlerContext } from '@connectrpc/connect';
import { retryLater } from '#lib/rpc/errors.ts';
import { deadlineDefaultMs } from '#lib/rpc/server/deadline.ts';
import type { Underway } from './underway.ts';

export type Admission = {
  /** Runs the work once there is room; refuses if there is none for too long. */
  run<Value>(work: () => Promise<Value>): Promise<Value>;
};

/** Four batches keep a core busy; who waits longer than two seconds asks again. */
export const admissionLimits = { runningMax: 4, waitMaxMs: 2_000, waitingMax: 64 };

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

/** Time to finish what has begun and to answer. */
const beforeDeadlineMs = 1_000;

/** Sends within a call, once there is room: `stop` is aborted by the caller, or a second before the deadline. */
export function admitted<Value>(
  { admission, underway }: { admission: Admission; underway: Underway },
  call: HandlerContext,
  send: (stop: AbortSignal) => Promise<Value>,
): Promise<Value> {
  return admission.run(async () => {
    if (underway.isFull) throw busy();
    const deadline = new AbortController();
    const leftMs = call.timeoutMs() ?? deadlineDefaultMs;
    const timer = setTimeout(() => deadline.abort(), Math.max(0, leftMs - beforeDeadlineMs));
    try {
      return await send(AbortSignal.any([call.signal, deadline.signal]));
    } finally {
      clearTimeout(timer);
    }
  });
}
