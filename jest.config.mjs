/** Tests run the sources as they are: Node strips the types, Jest sees ES modules. */
export default {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': '<rootDir>/test/setup/strip-types.cjs' },
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/.postrider/'],
  modulePathIgnorePatterns: ['<rootDir>/.postrider/'],
  globalSetup: '<rootDir>/test/setup/start.ts',
  globalTeardown: '<rootDir>/test/setup/stop.ts',
  maxWorkers: 2,
  testTimeout: 20_000,
};
