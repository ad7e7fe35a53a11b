const { appendFileSync } = require('node:fs');
const { relative } = require('node:path');
const { ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');

const { TEST_TIMES: timesFile = '' } = process.env;

/** Tests have Node's own globals (see runtime.cjs). What a file changes of them ends with it. */
module.exports = class Environment {
  global = globalThis;
  #path;
  #beganAtMs = performance.now();
  #cpuAtBegin = process.cpuUsage();
  #variables = { ...process.env };
  #exit = process.exit;
  #console = globalThis.console;

  constructor({ projectConfig }, { testPath }) {
    this.#path = relative(projectConfig.rootDir, testPath);
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
    this.#noteTimes();
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, this.#variables);
    process.exit = this.#exit;
    globalThis.console = this.#console;
  }

  /** CPU of this process with its threads, and wall time, in milliseconds. */
  #noteTimes() {
    if (timesFile === '') return;
    const { user, system } = process.cpuUsage(this.#cpuAtBegin);
    const times = [(user + system) / 1000, performance.now() - this.#beganAtMs].map(Math.round);
    appendFileSync(timesFile, `${times.join(' ')} ${this.#path}\n`);
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return null;
  }
};
