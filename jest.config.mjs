/** Whole stacks and programs, as callers, people and other mail servers meet them. */
const endToEnd = [
  '**/test/{api,cli,contract,erasing,grpc,guide,mails,pages}/**/*.test.ts',
  '**/test/{relay,returned-mail,security,tour}/**/*.test.ts',
];

/** Whole stacks are started, killed, frozen, attacked and filled. */
const faults = [
  '**/test/{attacks,chaos,faults,installation,model,statements,telemetry}/**/*.test.ts',
];

/** Minutes long, or for root alone: each has a command of its own. */
const slow = [
  '**/test/security/rotation.test.ts',
  '**/test/faults/disk-full.test.ts',
  '**/test/postfix/*.test.ts',
  '**/test/dkim/verifiers.test.ts',
];

const without = (globs) => globs.map((glob) => `!${glob}`);
/** By command: `npm test`, `npm run e2e`, `npm run faults`, and those of slow tests. */
const files = {
  ordinary: ['**/*.test.ts', ...without([...endToEnd, ...faults, ...slow])],
  e2e: [...endToEnd, ...without(slow)],
  faults: [...faults, ...without(slow)],
  slow,
};

/** Node loads the sources as they are, and strips the types. */
export default {
  runtime: '<rootDir>/test/setup/runtime.cjs',
  testEnvironment: '<rootDir>/test/setup/environment.cjs',
  injectGlobals: false,
  transform: {},
  testMatch: files[process.env.TESTS ?? 'ordinary'],
  testPathIgnorePatterns: ['/node_modules/', '/.postrider/'],
  modulePathIgnorePatterns: ['<rootDir>/.postrider/', '<rootDir>/clients/typescript/package.json'],
  globalSetup: '<rootDir>/test/setup/start.ts',
  globalTeardown: '<rootDir>/test/setup/stop.ts',
  testSequencer: '<rootDir>/test/setup/sequencer.cjs',
  // More than the cores of CI, since files wait for much of their time. Of whole stacks three would
  // keep each other's requests waiting for longer than they may.
  maxWorkers: process.env.TESTS === 'faults' ? 2 : 4,
  // Modules of test files stay in a worker. A new one takes three seconds of a core to load the rest.
  workerIdleMemoryLimit: '500MB',
  // For a test that hangs; a busy machine takes ten times as long as a quiet one.
  testTimeout: 60_000,
};
