/** Minutes long, or for root alone: commands of their own. */
const slow = process.env.SLOW_TESTS
  ? []
  : [
      '/test/security/rotation\\.test\\.ts$',
      '/test/faults/disk-full\\.test\\.ts$',
      '/test/postfix/.*\\.test\\.ts$',
      '/test/dkim/verifiers\\.test\\.ts$',
    ];

/** Node loads the sources as they are, and strips the types. */
export default {
  runtime: '<rootDir>/test/setup/runtime.cjs',
  testEnvironment: '<rootDir>/test/setup/environment.cjs',
  injectGlobals: false,
  transform: {},
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/.postrider/', ...slow],
  modulePathIgnorePatterns: ['<rootDir>/.postrider/', '<rootDir>/clients/typescript/package.json'],
  globalSetup: '<rootDir>/test/setup/start.ts',
  globalTeardown: '<rootDir>/test/setup/stop.ts',
  testSequencer: '<rootDir>/test/setup/sequencer.cjs',
  // One more than the cores of CI, since files wait for much of their time. With two more, whole
  // stacks that start together keep each other's requests waiting for longer than they may.
  maxWorkers: 3,
  // A worker with a large heap takes longer to exit than the half second that Jest waits for it.
  workerIdleMemoryLimit: '300MB',
  // For a test that hangs; a busy machine takes ten times as long as a quiet one.
  testTimeout: 60_000,
};
