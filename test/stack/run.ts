import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createStack } from '../../deploy/local/stack.ts';
import { readStackConfig } from '../../deploy/local/stack-config.ts';
import { writePrivately } from '../../deploy/private-file.ts';

/**
 * A whole stack and a sink for its mail, as a process of their own: `node test/stack/run.ts
 * --folder F --port P --replicas N --parent PID [--temporal HOST:PORT]`. Writes all addresses to
 * `F/ready.json`, and ends everything when the parent is gone.
 */

const { values } = parseArgs({
  options: {
    folder: { type: 'string', default: '' },
    port: { type: 'string', default: '' },
    replicas: { type: 'string', default: '1' },
    parent: { type: 'string', default: '' },
    temporal: { type: 'string', default: '' },
  },
});
const root = resolve(import.meta.dirname, '../..');
const parentPid = Number(values.parent);
const lookForParentMs = 500;
const say = (line: string): unknown => process.stderr.write(`${line}\n`);

const sinkProcess = spawn(
  process.execPath,
  [join(root, 'test/sink.ts'), '--file', join(values.folder, 'mails'), '--bodies', '200'],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
const sink = await addressOf(sinkProcess);
const config = readStackConfig(
  {
    ...process.env,
    POSTRIDER_PORT: values.port,
    POSTRIDER_DATA: values.folder,
    MESSAGES_REPLICAS: values.replicas,
    SMTP_URL: `smtp://127.0.0.1:${sink.port}`,
    DATABASE_URL: '',
    TEMPORAL_ADDRESS: values.temporal,
    LOG_LEVEL: 'info',
  },
  root,
);
const stack = createStack(config, say);
let isStopping = false;

async function stop(code: number): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  await stack.stop();
  sinkProcess.kill('SIGTERM');
  // A living parent removes the folder itself, after it has read the logs.
  if (!isAlive(parentPid)) rmSync(values.folder, { recursive: true, force: true });
  process.exit(code);
}

/** Tests freeze this process to stop the supervisor; a test that dies meanwhile can't thaw it. */
function wakeWhenParentIsGone(): void {
  const both = `kill -0 ${parentPid} && kill -0 ${process.pid}`;
  const script = `while ${both}; do sleep 1; done; kill -CONT ${process.pid}`;
  spawn('sh', ['-c', script], { detached: true, stdio: 'ignore' }).unref();
}

async function addressOf(child: ChildProcess): Promise<{ port: number; control: number }> {
  if (child.stdout === null) throw new Error('the sink has no output');
  const [line] = await once(child.stdout, 'data');
  return JSON.parse(String(line));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

process.on('SIGTERM', () => stop(0));
process.on('SIGINT', () => stop(0));
setInterval(() => {
  if (!isAlive(parentPid)) void stop(0);
}, lookForParentMs);
wakeWhenParentIsGone();
try {
  await stack.start();
  const ready = { pid: process.pid, control: sink.control };
  writePrivately(join(values.folder, 'ready.json'), JSON.stringify(ready));
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  await stop(1);
}
