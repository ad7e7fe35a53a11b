import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

/**
 * Has a process wait for others of the machine, by one of `os.constants.priority`; one that waits
 * already stays as it is. Threads inherit it; on Linux those that are there are asked one by one.
 */
export function giveWay(pid: number, priority: number): void {
  // To raise it takes rights.
  if (getPriority(pid) < priority) setPriority(pid, priority);
  for (const thread of threadsOf(pid)) threadGivesWay(thread, priority);
  try {
    // Linux divides time between sessions first, by a priority of each. Of one that the process
    // does not lead, others are part.
    if (sessionOf(pid) !== pid) return;
    const group = `/proc/${pid}/autogroup`;
    const given = Number(/nice (-?\d+)/.exec(readFileSync(group, 'latin1'))?.[1]);
    if (given < priority) writeFileSync(group, String(priority));
  } catch {
    // No Linux, or one that divides time by processes alone.
  }
}

/** V8 begins some before any code runs, for collections and compilation. */
function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    // No Linux.
    return [];
  }
}

function threadGivesWay(thread: number, priority: number): void {
  try {
    if (getPriority(thread) < priority) setPriority(thread, priority);
  } catch {
    // It has ended.
  }
}

/** The process that leads the session. */
function sessionOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // After the name: state, parent, group, session.
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3]);
}
