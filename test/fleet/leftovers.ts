import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Notes a process that must not outlive this one. */
export function noteProcess(folder: string, pid: number): void {
  mkdirSync(join(folder, 'processes'), { recursive: true });
  writeFileSync(join(folder, 'processes', String(pid)), '');
}

/** Ends the noted processes and removes the folder when this process is gone, however it ended. */
export function endWithThisProcess(folder: string): void {
  const script = `while kill -0 ${process.pid} 2>/dev/null; do sleep 1; done
    [ -d '${folder}' ] || exit 0
    cd '${folder}/processes' && for pid in *; do kill -KILL $pid 2>/dev/null; done
    sleep 1; rm -rf '${folder}'`;
  spawn('sh', ['-c', script], { detached: true, stdio: 'ignore' }).unref();
}
