import { afterAll, beforeAll } from '@jest/globals';

/**
 * What all tests of a file share: opened before the first test and closed after the last. Its fields
 * are there once the tests run, not while the file is read.
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
