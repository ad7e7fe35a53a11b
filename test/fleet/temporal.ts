import { join } from 'node:path';
import { freePort } from '../../deploy/local/ports.ts';
import { temporalPart } from '../../deploy/local/temporal.ts';
import { temporalProgram } from '../../deploy/local/temporal-programs.ts';

/** The development server, on ports of its own. */
export async function startFleetTemporal(folder: string) {
  const [port, uiPort] = [await freePort(), await freePort()];
  const say = (line: string): unknown => process.stderr.write(`${line}\n`);
  const part = temporalPart({
    program: await temporalProgram(say),
    folder: join(folder, 'temporal'),
    port,
    uiPort,
  });
  const { pid, stop } = await part.start({
    log: () => {},
    spawned: () => {},
    signal: new AbortController().signal,
  });
  return { pid, stop, address: `127.0.0.1:${port}` };
}
