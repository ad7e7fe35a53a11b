const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

/** Tests have Node's own globals (see runtime.cjs). What a file changes of them ends with it. */
module.exports = class Environment {
  global = globalThis;
  #variables = { ...process.env };
  #exit = process.exit;
  #console = globalThis.console;

  constructor({ projectConfig }) {
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  /** Failures name the file as it is, without the number that runtime.cjs gives it. */
  handleTestEvent({ name, error }) {
    if (!name.endsWith('_failure') || typeof error?.stack !== 'string') return;
    error.stack = error.stack.replaceAll(/file:\/\/([^\s?)]+)\?file=\d+/g, '$1');
  }

  async setup() {}

  async teardown() {
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, this.#variables);
    process.exit = this.#exit;
    globalThis.console = this.#console;
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return null;
  }
};
