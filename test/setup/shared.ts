import { afterAll, beforeAll } from '@jest/globals';

/**
 * An object for all tests of a file, opened before the first test and closed after the last. Its
 * fields are set when the tests run, not while the file is loaded.
 */
export function shared<Opened extends object>(
  open: () => Promise<Opened>,
  close: (opened: Opened) => Promise<unknown>,
): Opened {
  const opened = {} as Opened;
  beforeAll(async () => {
    Object.assign(opened, await open());
  });
  afterAll(() => close(opened));
  return opened;
}

const kept = globalThis as { ofWorker?: Map<string, unknown> };

/**
 * An object for all files that a worker of Jest runs, which is never closed: it takes long to make,
 * and keeps nothing of a test.
 */
export function ofWorker<Made>(name: string, make: () => Made): Made {
  kept.ofWorker ??= new Map();
  if (!kept.ofWorker.has(name)) kept.ofWorker.set(name, make());
  return kept.ofWorker.get(name) as Made;
}
