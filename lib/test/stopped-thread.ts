/*
 * A process of its own that a test stops while its thread works: `node stopped-thread.ts`. Says
 * `asked`, and then whether it got an answer.
 */
import { KillableThread } from '../killable-thread.ts';
import type { Action } from './thread-worker.ts';

const script = new URL('./thread-worker.ts', import.meta.url);
const limits = { timeMs: 500, startMs: 5_000, memoryMb: 32, waitingMax: 3 };
const thread = new KillableThread<Action, number>(script, limits);

await thread.ask(() => 'answer');
const answer = thread.ask(() => 'answer later');
console.log('asked');
console.log((await answer) === undefined ? 'killed' : 'answered');
await thread.close();
