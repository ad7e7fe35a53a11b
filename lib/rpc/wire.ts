/**
 * How deep messages may nest on the wire. JSON at the gateway may nest 64 levels, and each level of a
 * free-form object is up to four messages.
 */
export const binaryOptions = { recursionLimit: 300 };
