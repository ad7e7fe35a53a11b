const { registerHooks } = require('node:module');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const globals = require('./globals.mjs');

const globalsUrl = pathToFileURL(require.resolve('./globals.mjs')).href;
const metricsUrl = pathToFileURL(join(__dirname, '../../lib/telemetry/metrics.ts')).href;
let files = 0;
let isHooked = false;

/**
 * Jest's own runtime loads every module anew for each file: half a second for a service. This one
 * leaves that to Node, which keeps modules for the next files of the worker. Only the test file
 * and the helpers in folders called `test`, which have state and register hooks, are loaded for
 * each file.
 */
module.exports = class Runtime {
  #environment;

  constructor({ rootDir }, environment) {
    this.#environment = environment;
    if (!isHooked) registerHooks({ resolve: resolverIn(rootDir) });
    isHooked = true;
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  async unstable_importModule(path) {
    const { registry } = await import(metricsUrl);
    registry.resetMetrics();
    files += 1;
    await import(`${pathToFileURL(path).href}?file=${files}`);
  }

  /** The module that has the tests of the file. */
  requireInternalModule(path) {
    delete require.cache[path];
    delete globalThis[Symbol.for('EVENT_HANDLERS')];
    return require(path);
  }

  setGlobalsForRuntime(given) {
    const { moduleMocker, fakeTimersModern: timers } = this.#environment;
    const jest = {
      fn: (implementation) => moduleMocker.fn(implementation),
      spyOn: (object, name) => moduleMocker.spyOn(object, name),
      useFakeTimers: (options) => timers.useFakeTimers(options),
      useRealTimers: () => timers.useRealTimers(),
      setSystemTime: (now) => timers.setSystemTime(now),
      advanceTimersByTime: (ms) => timers.advanceTimersByTime(ms),
      advanceTimersByTimeAsync: (ms) => timers.advanceTimersByTimeAsync(ms),
    };
    globals.setGlobals({ ...given, jest });
  }

  requireModule(path) {
    return require(path);
  }

  getSourceMaps() {
    return new Map();
  }

  getAllCoverageInfoCopy() {}
  enterTestCode() {}
  leaveTestCode() {}
  teardown() {}
};

/** What a module of one file imports from a folder called `test` is of that file too. */
function resolverIn(rootDir) {
  const root = `${pathToFileURL(rootDir).href}/`;
  const isHelper = (url) =>
    url.startsWith(root) && /^(?!node_modules\/)(.*\/)?test\//.test(url.slice(root.length));
  return (specifier, context, next) => {
    if (specifier === '@jest/globals') {
      return { url: globalsUrl, format: 'module', shortCircuit: true };
    }
    const found = next(specifier, context);
    const [, file] = context.parentURL?.split('?file=') ?? [];
    return file && isHelper(found.url) ? { ...found, url: `${found.url}?file=${file}` } : found;
  };
}
