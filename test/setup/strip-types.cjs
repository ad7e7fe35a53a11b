const { stripTypeScriptTypes } = require('node:module');

/** The same semantics as running under node: erasable syntax only. */
module.exports = {
  process: (source, sourceUrl) => ({
    code: stripTypeScriptTypes(source, { mode: 'strip', sourceUrl }),
  }),
};
